// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stem kernel for the tensor cores of sm_90a, with 64 filters, a padding of 1 before the
// pooling, and images of a whole number of windows.

#include "stem.h"
#include "wgmma.h"

namespace {

/// The filters are the left factor, so that `kColumns`, the columns of the convolution's result,
/// need not be a multiple of 64, and a thread has neighboring columns. The right factor is the
/// image: the 16 bytes of eight neighboring windows are contiguous, and matrices of windows
/// overlap. In each iteration four warps compute the two rows of the convolution that a row of the
/// pooling adds; the row above is in registers from the previous iteration. Image rows are in a
/// ring buffer, into which the rows of the next iteration are loaded. While the sums of one row are
/// pooled, the products of the other are in flight.
template <typename T, typename Image, int kColumns>
DEVICE void run(const Image *x, const T *w, const T *bias, T *y, const Stem stem) {
  using Pair = typename Element<T>::Pair;
  constexpr int kFilters = kStemWgmmaFilters, kThreads = kGroupThreads, kMatrices = kColumns / 8,
                kSteps = kTapBytes<T> / 32;
  constexpr int kMatrixBytes = 128, kChunkBytes = kFilters * 16;
  const Patch<T> patch(stem);
  const int slots = stem.tapsH + 6, firstTap = stem.firstTap(), shift = (kStemLeft - stem.pad) % 2;
  const int thread = threadId(), warp = thread / 32, lane = thread % 32;
  char *filters = shared + slots * patch.rowBytes;
  const Place place(stem, kFilters);

  // A chunk is 16 bytes of every filter. Of 16 rows, those of even filters come first, because a
  // thread has rows i and i + 8 of the product.
#pragma unroll 14
  for (int i = thread; i < kFilters * stem.tapsH * 8; i += kThreads) {
    int filter = i / (8 * stem.tapsH), down = i / 8 % stem.tapsH,
        byte = i % 8 * (int)sizeof(Pixel<T>);
    int row = filter / 16 * 16 + filter % 2 * 8 + filter % 16 / 2;
    *(Pixel<T> *)(filters + (down * kTapBytes<T> + byte) / 16 * kChunkBytes + row * 16 +
                  byte % 16) = loadTap(w, stem, filter, down, i % 8 - shift);
  }
  const int filter = warp * 16 + lane / 4 * 2;
  float low = 0, high = 0;
  if (bias)
    Element<T>::unpack(*(const Pair *)(bias + filter), low, high);

  // The first iteration computes the row above the block. At the top of an image that row is
  // padding, and the iteration is skipped.
  const int firstTurn = place.begin == 0, lastTurn = place.end - place.begin,
            top = 4 * place.begin - 2 - stem.pad;
  const int ready = 4 * firstTurn + stem.tapsH;
#pragma unroll 2
  for (int i = thread; i < ready * patch.quads; i += kThreads) {
    Floats quad[4];
    patch.load(quad, x, stem, place.image, top + i / patch.quads, i % patch.quads);
    patch.store(shared + i / patch.quads * patch.rowBytes, i % patch.quads, quad);
  }
  fenceFactors();
  sync();

  const u64 taps = factorAt(sharedAddress(filters), kChunkBytes, kMatrixBytes);
  const u64 image = factorAt(sharedAddress(shared) + firstTap * 16, patch.next, kMatrixBytes);
  // The position in the ring of the first row of an iteration, two above that of its odd row. The
  // block's first rows are at the beginning of the ring.
  int slot = firstTurn ? 2 : slots - 2;
  // Starts the products of row `odd` of an iteration.
  float sums[2][kMatrices][4];
  auto start = [&](int odd) __attribute__((always_inline)) {
    fenceProducts();
#pragma unroll
    for (int down = 0; down < stem.tapsH; ++down) {
      const int row = slot + 2 * odd + down;
      const u64 windows = further(image, (row - (row >= slots) * slots) * patch.rowBytes);
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        Products<T, kColumns>::start(sums[odd],
                                     further(taps, (down * kSteps + step) * 2 * kChunkBytes),
                                     further(windows, step * patch.step), down + step == 0);
    }
    commitProducts();
  };

  constexpr int kFetched = 3;
  // The row above; then the maximum of that and the even row.
  Pair above[kMatrices][2] = {};
  auto at = [&](int odd, int j, int i) {
    return relu<T>(sums[odd][j][i] + low, sums[odd][j][i + 2] + high, stem.upper);
  };
  for (int turn = firstTurn; turn <= lastTurn; ++turn) {
    // Load four rows for the next iteration.
    Floats fetched[kFetched][4];
    const bool isLast = turn == lastTurn;
#pragma unroll
    for (int i = 0; i < kFetched; ++i)
      if (int quad = thread + i * kThreads; !isLast && quad < 4 * patch.quads)
        patch.load(fetched[i], x, stem, place.image,
                   top + 4 * turn + stem.tapsH + quad / patch.quads, quad % patch.quads);
    // A lane prefetches a row of a channel, or as many bytes of a row of all channels, for the
    // iteration after the next into the L2 cache.
    if (const int row = top + 4 * (turn + 1) + stem.tapsH + lane % 4, channel = lane / 4;
        warp == 0 && turn + 1 < lastTurn && channel < stem.channels &&
        (u32)row < (u32)stem.height) {
      const int line =
          stem.channelsLast ? row * stem.channels + channel : channel * stem.height + row;
      prefetch(x + ((long)place.image * stem.channels * stem.height + line) * stem.width,
               stem.width * (int)sizeof(Image));
    }
    start(0);
    start(1);
    waitProducts<1>();
    take(sums[0]);
#pragma unroll
    for (int j = 0; j < kMatrices; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        above[j][i] = max<T>(at(0, j, i), above[j][i]);

#pragma unroll
    for (int i = 0; i < kFetched; ++i)
      if (int quad = thread + i * kThreads; !isLast && quad < 4 * patch.quads)
        patch.store(shared + (slot + stem.tapsH + 2 + quad / patch.quads) % slots * patch.rowBytes,
                    quad % patch.quads, fetched[i]);
    fenceFactors();
    waitProducts<0>();
    take(sums[1]);

    T *to = y + place.at(stem, place.begin + turn - 1) + filter;
    // Left of the first column is padding; after relu, zeros equal minus infinity.
    Pair before = {};
#pragma unroll
    for (int j = 0; j < kMatrices; ++j) {
      Pair most[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        Pair odd = at(1, j, i);
        most[i] = max<T>(odd, above[j][i]);
        above[j][i] = odd;
      }
      // The odd column of the previous lane; for the first lane, the last column of the previous
      // matrix.
      const Pair last = shuffle(most[1], lane - 1 + (lane % 4 == 0) * 4),
                 left = lane % 4 == 0 ? before : last;
      before = last;
      if (turn > 0)
        *(Pair *)(to + (j * 4 + lane % 4) * kFilters) = max<T>(max<T>(most[0], most[1]), left);
    }
    sync();
    slot = slot + 4 - (slot + 4 >= slots) * slots;
  }
}

} // namespace

#define CONVOY_STEM(T, name, Image, imageName, columns)                                            \
  LIBRARY void convoy_stem_wgmma_##name##_##imageName##_##columns(                                 \
      const Image *x, const T *w, const T *bias, T *y, Stem stem) {                                \
    run<T, Image, columns>(x, w, bias, y, stem);                                                   \
  }
#define CONVOY_STEMS(columns)                                                                      \
  CONVOY_STEM(f16, f16, float, f32, columns)                                                       \
  CONVOY_STEM(f16, f16, f16, f16, columns)                                                         \
  CONVOY_STEM(bf16, bf16, float, f32, columns)                                                     \
  CONVOY_STEM(bf16, bf16, bf16, bf16, columns)                                                     \
  CONVOY_STEM(float, f32, float, f32, columns)
CONVOY_STEM_WGMMA_COLUMNS(CONVOY_STEMS)
