// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The interface between the compiler (passes/kernels) and the kernel library (runtime/device/*.cu):
// the structs that the library functions take after their pointers, and the tile sizes that they
// are instantiated for.

#ifndef CONVOY_DEVICE_KERNEL_ABI_H
#define CONVOY_DEVICE_KERNEL_ABI_H

namespace convoy::device {

/// An element of an array, for the lists of tiles below.
#define CONVOY_ITEM(number, ...) number,

/// Threads of a group: four warps, a warpgroup of wgmma.
constexpr int kGroupThreads = 128;

/// A function of one number. GELU is with erf, or with its approximation by tanh.
enum Activation : int {
  kIdentity,
  kSwish,
  kGelu,
  kGeluTanh,
  kSigmoid,
  kTanh,
  kLeakyRelu,
  kHardSwish
};

/// The epilogue of a product: clamp(activation((v + bias) * scale + residual), lower, upper), or if
/// the activation is `early`, clamp(activation(v + bias) * scale + residual, lower, upper). If it
/// `gates`, the residual is a factor instead of a summand.
struct EpilogueArguments {
  int activation, early, gates;
  float lower, upper;
  float slope; ///< of kLeakyRelu below 0
};

/// attention.cu: y = softmax(scale * q * transpose(k) + mask) * v for every batch and head. With
/// `causal`, a row sees the columns up to its own number, and with a positive `window` those less
/// than `window` before it. With a positive `softcap`, a scaled product s becomes
/// softcap * tanh(s / softcap) before the mask.
struct AttentionArguments {
  int heads, keyHeads; ///< `keyHeads` of k and v, which divide the heads of q
  int rows, columns;   ///< of the scores: rows of q; rows of k and v
  int depth, width;    ///< elements per row of q and k, and of v and y
  /// Distances in elements: of batches, heads and rows; of the mask also of columns. 0 for a dim of
  /// the mask of size 1.
  int query[3], key[3], value[3], mask[4], result[3];
  float scale, softcap;
  int causal, window;
  int warps; ///< warps per block; each computes 16 rows
};
/// Columns of the scores per step, and number of steps in shared memory.
constexpr int kAttentionColumns = 64, kAttentionStages = 2;
/// Bounds of depth and width.
#define CONVOY_ATTENTION_DEPTHS(X) X(32) X(64) X(96) X(128)
constexpr int kAttentionDepths[] = {CONVOY_ATTENTION_DEPTHS(CONVOY_ITEM)};

/// How attention_wgmma.cu reads the mask: not at all; one row for all rows, from shared memory; or
/// one number for each score.
enum MaskForm : int { kNoMask, kMaskOfColumns, kMaskOfScores };

/// attention_wgmma.cu: like attention.cu, for long sequences.
struct AttentionWgmmaArguments {
  AttentionArguments attention; ///< `warps` are 4 for each group of 64 rows
  int batches;
  int mask; ///< a MaskForm
};
/// Rows per group, and number of steps in shared memory.
constexpr int kAttentionWgmmaRows = 64, kAttentionWgmmaStages = 2;
/// Columns of the scores per step, and those for more than 64 elements per row.
#define CONVOY_ATTENTION_WGMMA_COLUMNS(X) X(64) X(80) X(96) X(112) X(128)
#define CONVOY_ATTENTION_WGMMA_WIDE_COLUMNS(X) X(64) X(80) X(96)
constexpr int kAttentionWgmmaColumns[] = {CONVOY_ATTENTION_WGMMA_COLUMNS(CONVOY_ITEM)};
/// Rows are in slabs of 64 elements, with 128 bytes for each of them.
constexpr int kAttentionWgmmaSlab = 64;

/// conv.cu: y[m, n] = epilogue(sum of x * w, bias[n], scale[n], residual[m, n]), in channels-last
/// memory, with `groupChannels` channels of x and `groupFilters` of y per group of the convolution.
struct ConvArguments {
  int images, height, width, channels;  ///< x
  int outHeight, outWidth, outChannels; ///< y
  int groupChannels, groupFilters;
  int tapsH, tapsW, strideH, strideW, padH, padW, dilationH, dilationW;
  int groups; ///< groups of warps per block, a power of two
  int split;  ///< blocks per cluster, which share a tile's sum, a power of two
  EpilogueArguments epilogue;
};
/// Bytes of factors per step of the reduction, and number of pipeline stages.
constexpr int kConvStepBytes = 128, kConvStages = 4;
/// Tiles: pixels x channels of the result.
#define CONVOY_CONV_TILES(X) X(32, 32) X(32, 64)

/// conv1x1_wgmma.cu: the product of all pixels and the filters, like conv.cu.
struct Conv1x1WgmmaArguments {
  int pixels, depth, filters;
  int groups;          ///< groups per block
  int blocksPerFilter; ///< blocks with the same filters
  EpilogueArguments epilogue;
};
/// Maximum pieces of 16 bytes of its next tile that a thread holds in registers.
constexpr int kConv1x1WgmmaFetched = 8;
/// Pixels per tile.
#define CONVOY_CONV1X1_WGMMA_PIXELS(X) X(32) X(64)

/// conv_wgmma.cu: like conv.cu, with stride and dilation 1.
struct ConvWgmmaArguments {
  int images, height, width, channels;  ///< x
  int outHeight, outWidth, outChannels; ///< y
  int tapsH, tapsW, padH, padW;
  int rows, columns; ///< pixels per tile
  int plane;         ///< bytes between chunks of 16 bytes of a tile's pixels, an odd multiple of 16
  int groups;        ///< groups per block
  int blocksPerFilter; ///< blocks with the same filters
  int ahead;           ///< tiles that are prefetched into the L2 cache, or 0
  EpilogueArguments epilogue;
};
/// Filters per block.
constexpr int kConvWgmmaFilters = 64;
/// Columns per product.
#define CONVOY_CONV_WGMMA_COLUMNS(X) X(64) X(88) X(104) X(120) X(176) X(232)
constexpr int kConvWgmmaColumns[] = {CONVOY_CONV_WGMMA_COLUMNS(CONVOY_ITEM)};
/// Pieces of 16 bytes of its next tile that a thread holds in registers.
#define CONVOY_CONV_WGMMA_FETCHED(X) X(16) X(20) X(24)
constexpr int kConvWgmmaFetched[] = {CONVOY_CONV_WGMMA_FETCHED(CONVOY_ITEM)};

/// conv_narrow.cu: like conv.cu, for few channels. Arrays have a number for depth, height and
/// width.
struct ConvNarrowArguments {
  int images, channels, outChannels;
  int size[3], outSize[3]; ///< x and y
  int taps[3], stride[3], pad[3], dilation[3];
  int tile[3];  ///< pixels of the result per tile, less than 1024 in each dim
  int filters;  ///< filters per block, a multiple of 32
  int matrices; ///< multiples of 16 pixels per warp; the warps of a block have all pixels of a tile
  int warps;    ///< warps per block
  int buffers;  ///< parts of the image in shared memory, 1 or 2
  int blocks;   ///< blocks with the same filters
  EpilogueArguments epilogue;
};
/// Largest `matrices` and `filters`, whose sums are in registers, and bytes of four channels.
constexpr int kNarrowMostMatrices = 4, kNarrowMostFilters = 96, kQuadBytes = 8;
/// Marks an entry of the table of pixels that is not in the tile.
constexpr unsigned kNarrowOutside = 1u << 31;

/// Shared memory of conv_narrow.cu: zeros, the table of pixels, the filters and parts of the image.
struct ConvNarrowShared {
  const ConvNarrowArguments &conv;

  constexpr int quads() const { return (conv.channels + 3) / 4; }
  constexpr int allTaps() const { return conv.taps[0] * conv.taps[1] * conv.taps[2]; }
  /// Steps of the sum, of four quads each.
  constexpr int steps() const { return (allTaps() * quads() + 3) / 4; }
  constexpr int tiles(int dim) const {
    return (conv.outSize[dim] + conv.tile[dim] - 1) / conv.tile[dim];
  }
  /// Pixels of the image that a tile needs.
  constexpr int patch(int dim) const {
    return (conv.tile[dim] - 1) * conv.stride[dim] + (conv.taps[dim] - 1) * conv.dilation[dim] + 1;
  }
  /// Pixels that are copied together, and bytes per copy: 16 bytes are aligned if they are pixels
  /// from an even one on, in rows of an even number of pixels.
  constexpr int together() const {
    return conv.channels % 4 == 0 && quads() % 2 == 1 && conv.size[2] % 2 == 0 ? 2 : 1;
  }
  constexpr int pieceBytes() const {
    return quads() % 2 == 0 || together() == 2 ? 2 * kQuadBytes : kQuadBytes;
  }
  constexpr int patchColumns() const {
    return (patch(2) + 2 * together() - 2) / together() * together();
  }
  constexpr int patchBytes() const {
    return (patch(0) * patch(1) * patchColumns() * quads() * kQuadBytes + 15) / 16 * 16;
  }
  constexpr int tableEntries() const { return conv.warps * conv.matrices * 16; }
  constexpr int tableBytes() const { return tableEntries() * 8; }
  constexpr int filterBytes() const { return steps() * 4 * conv.filters * kQuadBytes; }
  constexpr int allBytes() const {
    return 2 * kQuadBytes + tableBytes() + filterBytes() + conv.buffers * patchBytes();
  }
};

/// conv_few_filters.cu: like conv.cu, for few filters over two spatial dims.
struct ConvFewFiltersArguments {
  int images, height, width, channels;  ///< x
  int outHeight, outWidth, outChannels; ///< y
  int tapsH, tapsW, strideH, strideW, padH, padW, dilationH, dilationW;
  int tileH, tileW; ///< pixels of the result per tile
  int whole; ///< whether a pixel's products with all taps are computed together, or only those of a
             ///< row of the window at a time
  int warps; ///< warps per block
  int blocks; ///< blocks, each of which computes several tiles
  EpilogueArguments epilogue;
};
/// Channels of a step of the sum, and steps whose pieces are read at once.
constexpr int kFewFiltersStep = 32, kFewFiltersStepsAtOnce = 4;
/// Largest number of columns, whose sums are in registers.
constexpr int kFewFiltersMostColumns = 256;

/// Shared memory of conv_few_filters.cu: the filters, and the products of a tile's pixels of the
/// image with the columns: filters and taps.
struct ConvFewFiltersShared {
  const ConvFewFiltersArguments &conv;

  constexpr bool isWhole() const { return conv.whole != 0; }
  /// Rows of the window whose products are computed together, and how often.
  constexpr int tapsTogether() const { return isWhole() ? conv.tapsH : 1; }
  constexpr int turns() const { return isWhole() ? 1 : conv.tapsH; }
  constexpr int columns() const { return tapsTogether() * conv.tapsW * conv.outChannels; }
  /// Matrices of eight columns.
  constexpr int matrices() const { return (columns() + 7) / 8; }
  constexpr int steps() const { return (conv.channels + kFewFiltersStep - 1) / kFewFiltersStep; }
  constexpr int tilesH() const { return (conv.outHeight + conv.tileH - 1) / conv.tileH; }
  constexpr int tilesW() const { return (conv.outWidth + conv.tileW - 1) / conv.tileW; }
  /// Pixels of the image whose products are computed together.
  constexpr int patchH() const {
    return isWhole() ? (conv.tileH - 1) * conv.strideH + (conv.tapsH - 1) * conv.dilationH + 1
                     : conv.tileH;
  }
  constexpr int patchW() const {
    return (conv.tileW - 1) * conv.strideW + (conv.tapsW - 1) * conv.dilationW + 1;
  }
  /// Groups of 16 pixels.
  constexpr int groups() const { return (patchH() * patchW() + 15) / 16; }
  /// Distance of a pixel's products from those of the next pixel, in floats: an odd number, so that
  /// they are in different banks.
  constexpr int pitch() const { return columns() | 1; }
  constexpr int filterBytes() const { return turns() * steps() * matrices() * 32 * 16; }
  constexpr int allBytes() const { return filterBytes() + groups() * 16 * pitch() * 4; }
};

/// depthwise.cu: y[n, p, c] = epilogue(sum over taps of x * w[c], bias[c], scale[c],
/// residual[n, p, c]).
struct DepthwiseArguments {
  int images, depth, height, width, channels; ///< x
  int outDepth, outHeight, outWidth;          ///< y
  int tapsD, tapsH, tapsW, strideD, strideH, strideW, padD, padH, padW;
  int dilationD, dilationH, dilationW;
  int partTaps;            ///< taps of a row of the window that a thread reads at a time
  int lanes, strips, rows; ///< threads per block: pieces of channels, strips of a row, and rows
  EpilogueArguments epilogue;
};
/// Channels per thread, of which all channels are a multiple, and pixels: the widths of most
/// networks are multiples of 7.
#define CONVOY_DEPTHWISE_CHANNELS(X, ...) X(4, __VA_ARGS__) X(2, __VA_ARGS__) X(1, __VA_ARGS__)
constexpr int kDepthwiseChannels[] = {CONVOY_DEPTHWISE_CHANNELS(CONVOY_ITEM)};
#define CONVOY_DEPTHWISE_PIXELS(X) X(1) X(2) X(4) X(7)
constexpr int kDepthwisePixels[] = {CONVOY_DEPTHWISE_PIXELS(CONVOY_ITEM)};
/// Maximum `partTaps`, whose filters are in registers, and columns of the image that such parts of
/// the windows of a thread have.
constexpr int kDepthwiseMostTaps = 11, kDepthwiseMostColumns = 20;

/// grouped.cu: like depthwise.cu, with `groupChannels` channels of x and `groupFilters` of y per
/// group.
struct GroupedArguments {
  int height, width, channels;          ///< x
  int outHeight, outWidth, outChannels; ///< y
  int groupChannels, groupFilters;
  int tapsH, tapsW, strideH, strideW, padH, padW, dilationH, dilationW;
  int together;      ///< groups of a bundle, which are computed as one: both channels are multiples
                     ///< of 8, and those of x of 16 bytes
  int bundles;       ///< bundles per block
  int rows, columns; ///< pixels of the result per block
  int matrices;      ///< multiples of 16 pixels per warp
  int wide;          ///< multiples of 8 filters per warp
  int warps;         ///< warps per block
  EpilogueArguments epilogue;
};
/// Largest `matrices` and `wide`, whose sums are in registers; bytes at the start of shared memory.
constexpr int kGroupedMostMatrices = 4, kGroupedMostWide = 8, kGroupedHeaderBytes = 32;

/// matmul.cu: y[m, n] = epilogue(sum over k of x[m, k] * w[k, n], bias[n], scale[n], residual[m,
/// n]).
struct MatmulArguments {
  int rows, depth, columns;
  int lanes; ///< lanes of a warp that read along the same row of w
  int warps; ///< warps per block, which share a sum
  int split; ///< blocks per cluster, which share a sum
  EpilogueArguments epilogue;
};
/// Maximum rows of x, because the sums of a thread are in registers; rows of w that a thread reads
/// at a time.
constexpr int kMatmulMostRows = 8, kMatmulTurn = 8;

/// matmul_wgmma.cu: like matmul.cu, for many rows.
struct MatmulWgmmaArguments {
  int rows, depth, columns;
  int groups; ///< products with the same sizes, whose results are side by side in the rows of y
  int blocks; ///< blocks of the grid, each of which computes several tiles
  int stages; ///< steps of the reduction in shared memory
  EpilogueArguments epilogue;
};
/// Tiles: groups of warps that share one, and for each of them multiples of 64 rows and columns.
/// Sums are in registers.
// clang-format off: it breaks these lines differently each time.
#define CONVOY_MATMUL_WGMMA_TILES(X)                                                               \
  X(1, 1, 64) X(1, 1, 128) X(1, 1, 192) X(1, 1, 256) X(1, 2, 64) X(1, 2, 96) X(1, 2, 128)          \
  X(2, 1, 128) X(2, 1, 192) X(2, 1, 256) X(2, 2, 96) X(2, 2, 128)
// clang-format on
/// Groups that multiply, threads of a block, the last warp of which copies, and elements per step
/// of the reduction.
constexpr int kMatmulWgmmaGroups = 2, kMatmulWgmmaThreads = kMatmulWgmmaGroups * kGroupThreads + 32,
              kMatmulWgmmaStep = 64;
/// A step of w is in slabs of 64 columns, and results are stored in strips of 64 columns, whose
/// rows have 16 additional bytes, so that neighboring ones are in different banks.
constexpr int kMatmulWgmmaSlabColumns = 64, kMatmulWgmmaPitch = kMatmulWgmmaSlabColumns * 2 + 16;
/// Rows of tiles that follow each other in a column.
constexpr int kMatmulWgmmaTogether = 8;

/// A tile of matmul_wgmma.cu, and shared memory in bytes.
struct MatmulWgmmaTile {
  int sharing, blocks, columns;

  constexpr int rows() const { return sharing * blocks * 64; }
  constexpr int slabs() const {
    return (columns + kMatmulWgmmaSlabColumns - 1) / kMatmulWgmmaSlabColumns;
  }
  constexpr int slabBytes() const { return kMatmulWgmmaStep * kMatmulWgmmaSlabColumns * 2; }
  constexpr int leftBytes() const { return rows() * kMatmulWgmmaStep * 2; }
  constexpr int stageBytes() const { return leftBytes() + slabs() * slabBytes(); }
  /// For the epilogue of a warp: bias and scale, and 16 rows of one strip, of two with a residual.
  constexpr int warpBytes(bool hasResidual) const {
    return columns * 4 + (hasResidual ? 2 : 1) * 16 * kMatmulWgmmaPitch;
  }
  /// The ring begins at a multiple of 1024 bytes; each stage has two barriers.
  constexpr int sharedBytes(int stages, bool hasResidual) const {
    return 1024 + stages * (stageBytes() + 16) +
           kMatmulWgmmaGroups * kGroupThreads / 32 * warpBytes(hasResidual);
  }
};

/// conv_tma.cu: like conv.cu, as a product whose rows are pixels of y and whose columns are
/// filters; each tap is a multiple of kMatmulWgmmaStep in its depth. Arrays have a number for
/// depth, height and width. With groups the depth is that of all images: the tensor map of the
/// images has the groups as its outermost dim.
struct ConvTmaArguments {
  MatmulWgmmaArguments product;
  int dims;     ///< spatial dims of the tensor map, 2 or 3; without a third one the depth is 1
  int channels; ///< of a group
  int size[3];  ///< y
  int taps[3], stride[3], pad[3], dilation[3];
};

/// mean.cu: y[n, c] = mean over p of x[n, p, c].
struct MeanArguments {
  int pixels, channels;
  int lanes, warps, split; ///< as in MatmulArguments
};

/// What a step of a recurrent layer computes from the products of input and state (recurrent.h).
enum RecurrentMode : int { kRnnRelu, kRnnTanh, kLstm, kGru };

/// recurrent.cu and recurrent_step.cu: the states y[t, n, h] of a recurrent layer.
struct RecurrentArguments {
  int mode; ///< a RecurrentMode
  int steps, rows, size;
  int reverse; ///< whether the last step is the first one
  int warps;   ///< warps per block; in recurrent.cu a multiple of `groups`
  int groups;  ///< groups of columns of w per block
  int split;   ///< blocks per cluster, which share the columns
};
/// Sequences per block. A group of columns has eight pieces of 16 bytes for each row of w, the same
/// number for each gate; steps of the sum are 64 bytes of a row of the state.
constexpr int kRecurrentRows = 8, kRecurrentPieces = 8, kRecurrentStepBytes = 64;
/// Registers of a thread of recurrent.cu that hold w, and numbers of the state that it computes.
constexpr int kRecurrentHeld = 64, kRecurrentMostStates = 2;

/// Geometry of the columns of w for elements of `bytes` bytes.
struct RecurrentTile {
  int bytes;

  constexpr int width() const { return 16 / bytes; }
  /// Rows of w per step of the sum, and registers for a step of a group.
  constexpr int step() const { return kRecurrentStepBytes / bytes; }
  constexpr int registers() const { return step() * width() / 4 * bytes / 4; }
  /// States that a group of columns computes, for `gates` gates.
  constexpr int units(int gates) const { return kRecurrentPieces / gates * width(); }
  /// Numbers of a row of a group's sums in shared memory: without the last one, and without the one
  /// in the middle, the threads of a warp would write to the same banks.
  constexpr int pitch() const { return kRecurrentPieces * width() + 1; }
  constexpr int sumBytes() const { return kRecurrentRows * pitch() * 4; }
};

/// Shared memory of recurrent.cu in bytes: two buffers of the state, the block's part of the next
/// state, the sums of each warp, and the part of w that is not in registers.
struct RecurrentShared {
  RecurrentTile tile;
  int size, gates, warps, groups;

  /// Steps of the sum, and the most of a warp; the latter in registers.
  constexpr int steps() const { return (size + tile.step() - 1) / tile.step(); }
  constexpr int parts() const { return warps / groups; }
  constexpr int own() const { return (steps() + parts() - 1) / parts(); }
  constexpr int held() const { return kRecurrentHeld / tile.registers(); }
  /// Rows of the state begin in alternate halves of the banks.
  constexpr int pitch() const { return (steps() + 1) / 2 * 128 + 64; }
  constexpr int stateBytes() const { return kRecurrentRows * pitch(); }
  constexpr int partBytes() const {
    return kRecurrentRows * groups * tile.units(gates) * tile.bytes;
  }
  constexpr int sumsBytes() const { return warps * tile.sumBytes(); }
  constexpr int weightBytes() const {
    return (own() > held() ? own() - held() : 0) * warps * tile.registers() * 128;
  }
  constexpr int allBytes() const {
    return 2 * stateBytes() + partBytes() + sumsBytes() + weightBytes();
  }
};

/// Pixels of padding on the left of a row in shared memory: aligned, and enough for the widest
/// filter.
constexpr int kStemLeft = 4;
/// stem.cu and stem_wgmma.cu: convolution, bias, relu and max pooling of an image.
struct StemArguments {
  int images, height, width, channels;       ///< x
  int filters, weightChannels, tapsH, tapsW; ///< w
  int pad;                                   ///< on the top and left of x
  int convHeight, convWidth;                 ///< the result of the convolution
  int outHeight, outWidth;                   ///< the result of the pooling
  int poolPad;                               ///< 0 or 1, on the top and left of the pooling
  int rows;                                  ///< rows of the result per block
  int strip;        ///< rows of the result per strip of the image in shared memory
  float upper;      ///< upper bound of the relu
  int channelsLast; ///< whether the channels of a pixel of x are adjacent

  /// Columns of the convolution that are computed: 16 per warp of stem.cu.
  constexpr int columns() const { return (convWidth + 15) / 16 * 16; }
  /// The pair of pixels of a row in shared memory where the window of column 0 begins.
  constexpr int firstTap() const { return (kStemLeft - pad) / 2; }
  /// Pixels of a row in shared memory: eight from the window of the last column on.
  constexpr int pixels() const { return (2 * (columns() + firstTap()) + 6 + 3) / 4 * 4; }
  /// Columns of a row of the convolution in shared memory: the window of the last column of the
  /// result may reach two columns beyond.
  constexpr int lineColumns() const { return 1 + columns() + 2; }
  /// Blocks for an image.
  constexpr int blocks() const { return (outHeight + rows - 1) / rows; }
};
/// Number of filters of stem_wgmma.cu.
constexpr int kStemWgmmaFilters = 64;
/// Columns of the convolution's result in stem_wgmma.cu.
#define CONVOY_STEM_WGMMA_COLUMNS(X) X(64) X(80) X(96) X(112) X(128)
constexpr int kStemWgmmaColumns[] = {CONVOY_STEM_WGMMA_COLUMNS(CONVOY_ITEM)};

} // namespace convoy::device

#endif // CONVOY_DEVICE_KERNEL_ABI_H
