// What the compiler and the library of kernels agree about: the arguments of its functions behind
// their pointers, and the sizes of tiles that the functions are compiled for. The compiler
// (passes/kernels) and the library (runtime/device/*.cu) both include this file.

#ifndef CONVOY_DEVICE_KERNEL_ABI_H
#define CONVOY_DEVICE_KERNEL_ABI_H

namespace convoy::device {

/// An element of an array, for the lists of tiles below.
#define CONVOY_ITEM(number) number,

/// Threads of a group, four warps: what one warp group's product takes.
constexpr int kGroupThreads = 128;

/// conv.cu: y[m, n] = clamp(sum of x * w + bias[n] + residual[m, n]), in channels-last memory.
struct ConvArguments {
  int images, height, width, channels;  ///< x
  int outHeight, outWidth, outChannels; ///< y
  int tapsH, tapsW, strideH, strideW, padH, padW, dilationH, dilationW;
  int groups; ///< of a block, a power of two
  int split;  ///< blocks of a cluster that share a tile's sum, a power of two
  float lower, upper;
};
/// Bytes of factors in one step of the reduction, and steps that are loaded ahead.
constexpr int kConvStepBytes = 128, kConvStages = 4;
/// Tiles: pixels x channels of the result.
#define CONVOY_CONV_TILES(X) X(32, 32) X(32, 64)

/// conv1x1_wgmma.cu: the product of all pixels and the filters, as conv.cu.
struct Conv1x1WgmmaArguments {
  int pixels, depth, filters;
  int groups;          ///< of a block
  int blocksPerFilter; ///< blocks that have the same filters
  float lower, upper;
};
/// Pieces of 16 bytes of its next tile that a thread has in registers.
constexpr int kConv1x1WgmmaFetched = 8;
/// Pixels of a tile.
#define CONVOY_CONV1X1_WGMMA_PIXELS(X) X(32) X(64)

/// conv_wgmma.cu: as conv.cu, with a stride and a dilation of one.
struct ConvWgmmaArguments {
  int images, height, width, channels;  ///< x
  int outHeight, outWidth, outChannels; ///< y
  int tapsH, tapsW, padH, padW;
  int rows, columns; ///< pixels of a tile
  int plane;  ///< bytes from 16 bytes of a tile's pixels to the next 16, an odd multiple of 16
  int groups; ///< of a block
  int blocksPerFilter; ///< blocks that have the same filters
  int ahead;           ///< tiles that are brought into the L2 cache ahead, 0 for none
  float lower, upper;
};
/// Filters of a block.
constexpr int kConvWgmmaFilters = 64;
/// Columns of a product.
#define CONVOY_CONV_WGMMA_COLUMNS(X) X(64) X(88) X(104) X(120) X(176) X(232)
constexpr int kConvWgmmaColumns[] = {CONVOY_CONV_WGMMA_COLUMNS(CONVOY_ITEM)};
/// Pieces of 16 bytes of its next tile that a thread has in registers.
#define CONVOY_CONV_WGMMA_FETCHED(X) X(16) X(20) X(24)
constexpr int kConvWgmmaFetched[] = {CONVOY_CONV_WGMMA_FETCHED(CONVOY_ITEM)};

/// matmul.cu: y[m, n] = clamp(sum over k of x[m, k] * w[k, n] + bias[n] + residual[m, n]).
struct MatmulArguments {
  int rows, depth, columns;
  int lanes; ///< lanes of a warp that read on along a row of w
  int warps; ///< warps of a block that share a sum
  int split; ///< blocks of a cluster that share a sum
  float lower, upper;
};
/// Rows of x at most, because the sums of a thread are in registers; rows of w that a thread reads
/// at a time.
constexpr int kMatmulMostRows = 8, kMatmulTurn = 8;

/// mean.cu: y[n, c] = mean over p of x[n, p, c].
struct MeanArguments {
  int pixels, channels;
  int lanes, warps, split; ///< as in MatmulArguments
};

/// stem.cu and stem_wgmma.cu: convolution, bias, relu and max pooling of an image.
struct StemArguments {
  int images, height, width, channels;       ///< x
  int filters, weightChannels, tapsH, tapsW; ///< w
  int pad;
  int rows;    ///< of the result, of a block
  int strip;   ///< rows of the result that a block has the image for at a time
  float upper; ///< of the relu
};
/// Filters of stem_wgmma.cu.
constexpr int kStemWgmmaFilters = 64;
/// Columns of the convolution's result in stem_wgmma.cu.
#define CONVOY_STEM_WGMMA_COLUMNS(X) X(64) X(80) X(96) X(112) X(128)
constexpr int kStemWgmmaColumns[] = {CONVOY_STEM_WGMMA_COLUMNS(CONVOY_ITEM)};

} // namespace convoy::device

#endif // CONVOY_DEVICE_KERNEL_ABI_H
