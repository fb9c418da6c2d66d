// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in one pass over the columns of the scores (Dao 2023, FlashAttention-2): the scores of
// a step are in registers, and the sum is scaled when the largest score of its row grows. For
// windows, masks and short sequences, where cuDNN's kernels take several times their bytes.

#include "attention.h"

namespace {

using Attention = AttentionArguments;

/// A warp computes 16 rows of one head. Its thread has two of them, and two of every eight columns,
/// as mma.m16n8k16 distributes them. `stats` is the logarithm of each row's sum of exponentials.
/// Rows whose scores are all minus infinity are 0.
template <typename T, int kDepth>
DEVICE void attend(const T *q, const T *k, const T *v, const T *mask, T *y, float *stats,
                   const Attention attention) {
  constexpr int kColumns = kAttentionColumns, kStages = kAttentionStages, kChunks = kDepth / 8;
  // 16 additional bytes, so that neighboring rows are in different banks.
  constexpr int kPitch = kDepth * 2 + 16, kTile = kColumns * kPitch;
  const int thread = threadId(), lane = thread % 32, warp = thread / 32;
  const int together = 16 * attention.warps, strips = (attention.rows + together - 1) / together;
  const int strip = blockId() % strips, head = blockId() / strips % attention.heads,
            batch = blockId() / (strips * attention.heads);
  const int keyHead = head / (attention.heads / attention.keyHeads);
  auto from = [&](auto *tensor, const int (&distances)[3], int head) {
    return tensor + (long)batch * distances[0] + (long)head * distances[1];
  };
  const T *const keys = from(k, attention.key, keyHead);
  const T *const values = from(v, attention.value, keyHead);
  const int firstRow = strip * together + warp * 16, row = firstRow + lane / 4;
  const u32 base = sharedAddress(shared);

  // Copies rows of k and v; zeros beyond the last row and beyond their depth.
  auto copy = [&](int step) __attribute__((always_inline)) {
    const u32 to = base + step % kStages * 2 * kTile;
#pragma unroll
    for (int i = 0; i < kColumns * kChunks; i += 32 * attention.warps) {
      const int number = i + thread, line = number / kChunks, chunk = number % kChunks * 8;
      if (kColumns * kChunks % (32 * attention.warps) != 0 && number >= kColumns * kChunks)
        continue;
      const int column = step * kColumns + line;
      const u32 place = to + line * kPitch + chunk * 2;
      const bool inside = column < attention.columns;
      copyAsync(place, keys + (long)column * attention.key[2] + chunk,
                inside && chunk < attention.depth);
      copyAsync(place + kTile, values + (long)column * attention.value[2] + chunk,
                inside && chunk < attention.width);
    }
  };
  const int lastRow = min(strip * together + together, attention.rows) - 1,
            columns = attention.causal ? min(attention.columns, lastRow + 1) : attention.columns;
  const int steps = (columns + kColumns - 1) / kColumns,
            firstStep = firstStepOf(attention.window, strip * together, kColumns, steps);
  copy(firstStep);
  commitCopies();

  u32 queries[kDepth / 16][4];
  const T *const rows = from(q, attention.query, head);
#pragma unroll
  for (int i = 0; i < kDepth / 16; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int at = row + j % 2 * 8, element = i * 16 + j / 2 * 8 + lane % 4 * 2;
      queries[i][j] = at < attention.rows && element < attention.depth
                          ? *(const u32 *)(rows + (long)at * attention.query[2] + element)
                          : 0;
    }

  float sums[kDepth / 8][4] = {}, totals[2] = {}, largest[2] = {kHidden, kHidden};
#pragma unroll 1
  for (int step = firstStep; step < steps; ++step) {
    if (step + 1 < steps)
      copy(step + 1);
    commitCopies();
    waitCopies<1>();
    sync();
    const u32 tile = base + step % kStages * 2 * kTile;
    float scores[kColumns / 8][4] = {};
    const u32 keyPlace = tile + (lane % 8 + lane / 16 * 8) * kPitch + lane / 8 % 2 * 16;
#pragma unroll
    for (int i = 0; i < kDepth / 16; ++i)
#pragma unroll
      for (int j = 0; j < kColumns / 8; j += 2) {
        u32 factors[4];
        loadMatrices(factors, keyPlace + j * 8 * kPitch + i * 32);
        Element<T>::multiply(scores[j], queries[i], factors[0], factors[1]);
        Element<T>::multiply(scores[j + 1], queries[i], factors[2], factors[3]);
      }

    // In units of ln 2, for exp2.
    const float scale = attention.scale * kLog2e;
    const bool isCapped = attention.softcap > 0;
    const int firstColumn = step * kColumns + lane % 4 * 2;
    float most[2] = {largest[0], largest[1]};
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = row + i / 2 * 8, column = firstColumn + j * 8 + i % 2;
        float score = isCapped ? capped(scores[j][i], attention.scale, attention.softcap)
                               : scores[j][i] * scale;
        if (mask) {
          const long place = (long)batch * attention.mask[0] + (long)head * attention.mask[1] +
                             (long)min(at, attention.rows - 1) * attention.mask[2] +
                             (long)min(column, attention.columns - 1) * attention.mask[3];
          score += (float)mask[place] * kLog2e;
        }
        if (column >= attention.columns || (attention.causal && column > at) ||
            isBefore(attention.window, column, at))
          score = kHidden;
        scores[j][i] = score;
        most[i / 2] = __builtin_fmaxf(most[i / 2], score);
      }
    float bases[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      most[i] = __builtin_fmaxf(most[i], shuffleXor(most[i], 1));
      most[i] = __builtin_fmaxf(most[i], shuffleXor(most[i], 2));
      bases[i] = most[i] == kHidden ? 0 : most[i];
      const float factor = exp2(largest[i] - bases[i]);
      largest[i] = most[i];
      totals[i] *= factor;
#pragma unroll
      for (auto &four : sums) {
        four[2 * i] *= factor;
        four[2 * i + 1] *= factor;
      }
    }
    const u32 valuePlace = tile + kTile + lane % 16 * kPitch + lane / 16 * 16;
#pragma unroll
    for (int j = 0; j < kColumns / 8; j += 2) {
      u32 powers[4];
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        float *const two = scores[j + pair / 2] + pair % 2 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          two[i] = exp2(two[i] - bases[pair % 2]);
          totals[pair % 2] += two[i];
        }
        powers[pair] = Element<T>::pack(two[0], two[1]);
      }
#pragma unroll
      for (int i = 0; i < kDepth / 8; i += 2) {
        u32 factors[4];
        loadTransposed(factors, valuePlace + j * 8 * kPitch + i * 16);
        Element<T>::multiply(sums[i], powers, factors[0], factors[1]);
        Element<T>::multiply(sums[i + 1], powers, factors[2], factors[3]);
      }
    }
    // The next step but one is copied to this place.
    sync();
  }

  T *const results = from(y, attention.result, head);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int at = row + i * 8;
    totals[i] += shuffleXor(totals[i], 1);
    totals[i] += shuffleXor(totals[i], 2);
    if (at >= attention.rows)
      continue;
    const float factor = totals[i] == 0 ? 0 : 1 / totals[i];
#pragma unroll
    for (int j = 0; j < kDepth / 8; ++j) {
      const int element = j * 8 + lane % 4 * 2;
      if (element < attention.width)
        *(u32 *)(results + (long)at * attention.result[2] + element) =
            Element<T>::pack(sums[j][2 * i] * factor, sums[j][2 * i + 1] * factor);
    }
    if (lane % 4 == 0)
      stats[((long)batch * attention.heads + head) * attention.rows + at] =
          (largest[i] + log2(totals[i])) * kLn2;
  }
}

} // namespace

#define CONVOY_ATTENTION(T, name, depth)                                                           \
  LIBRARY void convoy_attention_##name##_##depth(const T *q, const T *k, const T *v,               \
                                                 const T *mask, T *y, float *stats,                \
                                                 Attention attention) {                            \
    attend<T, depth>(q, k, v, mask, y, stats, attention);                                          \
  }
#define CONVOY_ATTENTIONS(depth)                                                                   \
  CONVOY_ATTENTION(f16, f16, depth)                                                                \
  CONVOY_ATTENTION(bf16, bf16, depth)
CONVOY_ATTENTION_DEPTHS(CONVOY_ATTENTIONS)
