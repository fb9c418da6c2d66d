// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention for the tensor cores of sm_90a, in one pass over the columns of the scores like
// attention.cu. Each group of four warps computes 64 rows, and all groups of a block read the same
// steps of keys and values. While one group computes exponentials, others multiply.

#include "attention.h"
#include "wgmma.h"

namespace {

/// A thread has two rows of its group, and two of every eight columns of the scores, as wgmma
/// distributes its sums. This is also how it reads a left factor from registers, so the powers of a
/// step are multiplied by the values from where they are.
template <typename T, int kDepth, int kColumns>
DEVICE void attend(const T *q, const T *k, const T *v, const T *mask, T *y, float *stats,
                   const AttentionWgmmaArguments arguments) {
  constexpr int kRows = kAttentionWgmmaRows, kAcross = kAttentionWgmmaSlab,
                kStages = kAttentionWgmmaStages, kSlabs = (kDepth + kAcross - 1) / kAcross,
                kMatrices = kColumns / 8;
  constexpr int kSlabBytes = kColumns * 128, kFactorBytes = kSlabs * kSlabBytes;
  const AttentionArguments attention = arguments.attention;
  const int threads = attention.warps * 32, together = attention.warps * 16;
  const u32 thread = threadId(), lane = thread % 32, warp = shuffle(thread / 32, 0);

  // The blocks of a causal mask take different times, so the longest ones start first.
  const int strips = (attention.rows + together - 1) / together,
            all = attention.heads * arguments.batches;
  const int strip = attention.causal ? strips - 1 - (int)blockId() / all : (int)blockId() % strips,
            headOfAll = attention.causal ? blockId() % all : blockId() / strips;
  const int head = headOfAll % attention.heads, batch = headOfAll / attention.heads,
            keyHead = head / (attention.heads / attention.keyHeads);
  auto from = [&](auto *tensor, const int (&distances)[3], int head) {
    return tensor + (long)batch * distances[0] + (long)head * distances[1];
  };
  const T *const keys = from(k, attention.key, keyHead);
  const T *const values = from(v, attention.value, keyHead);
  const int firstRow = strip * together, warpRow = firstRow + (int)warp * 16,
            row = warpRow + (int)lane / 4;

  const int lastRow = min(firstRow + together, attention.rows) - 1,
            columns = attention.causal ? min(attention.columns, lastRow + 1) : attention.columns,
            steps = (columns + kColumns - 1) / kColumns,
            firstStep = firstStepOf(attention.window, firstRow, kColumns, steps);
  const bool isShared = arguments.mask == kMaskOfColumns;
  const int maskBytes = isShared ? (attention.columns + kColumns - 1) / kColumns * kColumns * 4 : 0;
  float *const biases = (float *)shared;
  const u32 base = (sharedAddress(shared) + maskBytes + 1023) & ~1023u;
  const int querySlab = together * 128;
  const u32 ring = base + kSlabs * querySlab;

  // Copies `lines` lines of a tensor into slabs with the 128-byte swizzle; zeros beyond its last
  // line and beyond its elements. A thread copies the same chunk of 16 bytes of several lines.
  auto copyLines = [&](u32 to, int lines, const T *tensor, int distance, int first, int count,
                       int elements) __attribute__((always_inline)) {
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      const int chunks = min(8, kDepth / 8 - slab * 8), stride = threads / chunks;
      // Computed again for each step, because registers are scarce.
      const u32 own = again(thread);
      const int chunk = own % chunks, line = own / chunks, element = slab * kAcross + chunk * 8;
      const u32 place = to + (slab * lines + line) * 128 + ((chunk ^ line % 8) << 4);
      const T *const at = tensor + (long)(first + line) * distance + element;
#pragma unroll
      for (int i = 0; i < lines; i += stride)
        if (i + stride <= lines || i + line < lines)
          copyAsync(place + i * 128, at + (long)i * distance,
                    first + line + i < count && element < elements);
    }
  };
  auto copy = [&](int step) __attribute__((always_inline)) {
    const u32 to = ring + step % kStages * 2 * kFactorBytes;
    copyLines(to, kColumns, keys, attention.key[2], step * kColumns, attention.columns,
              attention.depth);
    copyLines(to + kFactorBytes, kColumns, values, attention.value[2], step * kColumns,
              attention.columns, attention.width);
  };
  copyLines(base, together, from(q, attention.query, head), attention.query[2], firstRow,
            attention.rows, attention.depth);
  copy(firstStep);
  commitCopies();

  // In units of ln 2, for exp2. Scores that are neither masked, capped nor scaled by a negative
  // number are scaled together with the subtraction of the largest one.
  const bool isCapped = attention.softcap > 0, isMasked = arguments.mask != kNoMask,
             isScaled = isMasked || isCapped || !(attention.scale > 0);
  const float scale = attention.scale * kLog2e;
  const float unit = isScaled ? 1 : scale;
  const T *const masks = mask + (long)batch * attention.mask[0] + (long)head * attention.mask[1];
  if (isShared)
    for (int column = thread; column < steps * kColumns; column += threads)
      biases[column] = column < attention.columns
                           ? (float)masks[(long)column * attention.mask[3]] * kLog2e
                           : kHidden;

  float sums[kDepth / 8][4] = {}, totals[2] = {}, largest[2] = {kHidden, kHidden};
#pragma unroll 1
  for (int step = firstStep; step < steps; ++step) {
    waitCopies<0>();
    fenceFactors();
    // The slot of the previous step is filled next.
    waitProducts<0>();
    sync();
    const u32 tile = ring + step % kStages * 2 * kFactorBytes;
    const u64 left = swizzledFactorAt(shuffle(base + warp / 4 * kRows * 128, 0), 0),
              right = swizzledFactorAt(shuffle(tile, 0), 0);
    float scores[kMatrices][4] = {};
    fenceProducts();
#pragma unroll
    for (int i = 0; i < kDepth / 16; ++i)
      Products<T, kColumns>::start(scores, further(left, i / 4 * querySlab + i % 4 * 32),
                                   further(right, i / 4 * kSlabBytes + i % 4 * 32), i == 0);
    commitProducts();
    if (step + 1 < steps)
      copy(step + 1);
    commitCopies();

    const int firstColumn = step * kColumns, column = firstColumn + lane % 4 * 2;
    // Read while the products are computed.
    u32 pairs[kMatrices][2];
    if (isMasked && !isShared)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const T *const line =
            masks + (long)min(row + i * 8, attention.rows - 1) * attention.mask[2];
        auto numberOf = [&](int column) {
          return line[(long)min(column, attention.columns - 1) * attention.mask[3]];
        };
        struct alignas(4) Two {
          T low, high;
        };
#pragma unroll
        for (int j = 0; j < kMatrices; ++j)
          pairs[j][i] =
              __builtin_bit_cast(u32, Two{numberOf(column + j * 8), numberOf(column + j * 8 + 1)});
      }
    waitProducts<0>();
    take(scores);
    take(sums);

    u32 powers[kMatrices / 2][4];
    auto soften = [&](bool isPartial) __attribute__((always_inline)) {
      if (isScaled)
#pragma unroll
        for (int j = 0; j < kMatrices; ++j) {
          float masked[4] = {};
          if (isShared) {
            const auto two = *(const Elements<float, 2> *)(biases + column + j * 8);
            masked[0] = masked[2] = two.x;
            masked[1] = masked[3] = two.y;
          } else if (isMasked) {
#pragma unroll
            for (int i = 0; i < 2; ++i)
              Element<T>::unpack(pairs[j][i], masked[2 * i], masked[2 * i + 1]);
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float score = isCapped ? capped(scores[j][i], attention.scale, attention.softcap)
                                         : scores[j][i] * scale;
            scores[j][i] = score + (isShared ? masked[i] : masked[i] * kLog2e);
          }
        }
      float most[4] = {largest[0], kHidden, largest[1], kHidden};
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int last = attention.causal ? min(row + i / 2 * 8, attention.columns - 1)
                                            : attention.columns - 1;
          if (isPartial && (j * 8 + i % 2 > last - column ||
                            isBefore(attention.window, column + j * 8 + i % 2, row + i / 2 * 8)))
            scores[j][i] = kHidden;
          most[i] = __builtin_fmaxf(most[i], scores[j][i]);
        }
      float bases[2], parts[4] = {};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float &one = most[2 * i];
        one = __builtin_fmaxf(one, most[2 * i + 1]);
        one = __builtin_fmaxf(one, shuffleXor(one, 1));
        one = __builtin_fmaxf(one, shuffleXor(one, 2));
        bases[i] = one == kHidden ? 0 : one * unit;
        const float factor = exp2(largest[i] * unit - bases[i]);
        largest[i] = one;
        totals[i] *= factor;
#pragma unroll
        for (auto &four : sums) {
          four[2 * i] *= factor;
          four[2 * i + 1] *= factor;
        }
      }
#pragma unroll
      for (int j = 0; j < kMatrices; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float *const two = scores[j] + 2 * i;
#pragma unroll
          for (int each = 0; each < 2; ++each) {
            two[each] = exp2(two[each] * unit - bases[i]);
            parts[2 * i + each] += two[each];
          }
          powers[j / 2][j % 2 * 2 + i] = Element<T>::pack(two[0], two[1]);
        }
      totals[0] += parts[0] + parts[1];
      totals[1] += parts[2] + parts[3];
    };
    // A warp's rows see all columns of the step, some, or none. The compiler writes zeros that it
    // knows before the branch, to registers that scores occupy otherwise.
    const int end = firstColumn + kColumns;
    if ((attention.rows % together != 0 && warpRow >= attention.rows) ||
        (attention.causal && firstColumn > warpRow + 15) ||
        isBefore(attention.window, end - 1, warpRow))
#pragma unroll
      for (auto &four : powers)
#pragma unroll
        for (u32 &each : four)
          each = zero();
    else if ((end <= attention.columns || isShared) && (!attention.causal || end <= warpRow + 1) &&
             !isBefore(attention.window, firstColumn, warpRow + 15))
      soften(false);
    else
      soften(true);

    settle(sums);
    settle(powers);
    const u64 factors = swizzledFactorAt(shuffle(tile + kFactorBytes, 0), kSlabBytes);
    fenceProducts();
#pragma unroll
    for (int i = 0; i < kColumns / 16; ++i)
      ProductsFromRegisters<T, kDepth>::start(sums, powers[i], further(factors, i * 16 * 128));
    commitProducts();
  }
  waitProducts<0>();
  take(sums);
  // Shared memory is free: each warp has space for its 16 rows of the result.
  sync();

  // 16 additional bytes, so that neighboring rows are in different banks.
  constexpr int kPitch = kDepth * 2 + 16, kChunks = kDepth / 8;
  const u32 own = base + warp * 16 * kPitch;
  float factors[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    totals[i] += shuffleXor(totals[i], 1);
    totals[i] += shuffleXor(totals[i], 2);
    factors[i] = totals[i] == 0 ? 0 : reciprocal(totals[i]);
    if (lane % 4 == 0 && row + i * 8 < attention.rows)
      stats[((long)batch * attention.heads + head) * attention.rows + row + i * 8] =
          (largest[i] * unit + log2(totals[i])) * kLn2;
  }
#pragma unroll
  for (int j = 0; j < kChunks; j += 2) {
    u32 four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float *const two = sums[j + i / 2] + i % 2 * 2;
      four[i] = Element<T>::pack(two[0] * factors[i % 2], two[1] * factors[i % 2]);
    }
    storeMatrices(own + lane % 16 * kPitch + lane / 16 * 16 + j * 16, four);
  }
  syncWarp();
  T *const results = from(y, attention.result, head);
#pragma unroll
  for (int i = 0; i < kChunks / 2; ++i) {
    const int number = i * 32 + lane, line = number / kChunks, chunk = number % kChunks;
    if (warpRow + line < attention.rows && chunk * 8 < attention.width)
      *(u32x4 *)(results + (long)(warpRow + line) * attention.result[2] + chunk * 8) =
          loadShared(own + line * kPitch + chunk * 16);
  }
}

} // namespace

#define CONVOY_ATTENTION(T, name, depth, columns)                                                  \
  LIBRARY void convoy_attention_wgmma_##name##_##depth##_##columns(                                \
      const T *q, const T *k, const T *v, const T *mask, T *y, float *stats,                       \
      AttentionWgmmaArguments arguments) {                                                         \
    attend<T, depth, columns>(q, k, v, mask, y, stats, arguments);                                 \
  }
#define CONVOY_ATTENTIONS(columns)                                                                 \
  CONVOY_ATTENTION(f16, f16, 32, columns)                                                          \
  CONVOY_ATTENTION(f16, f16, 64, columns)                                                          \
  CONVOY_ATTENTION(bf16, bf16, 32, columns)                                                        \
  CONVOY_ATTENTION(bf16, bf16, 64, columns)
#define CONVOY_WIDE_ATTENTIONS(columns)                                                            \
  CONVOY_ATTENTION(f16, f16, 96, columns)                                                          \
  CONVOY_ATTENTION(f16, f16, 128, columns)                                                         \
  CONVOY_ATTENTION(bf16, bf16, 96, columns)                                                        \
  CONVOY_ATTENTION(bf16, bf16, 128, columns)
CONVOY_ATTENTION_WGMMA_COLUMNS(CONVOY_ATTENTIONS)
CONVOY_ATTENTION_WGMMA_WIDE_COLUMNS(CONVOY_WIDE_ATTENTIONS)
