// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forward convolutions. All are lowered to channels-last with explicit padding: to a named op if
// linalg has one, otherwise to a generic.
//
// Filters: on the CPU the output channel is the last dim (R, S, C, K), so that vectors of output
// channels are contiguous; convoy-hoist-transposes moves the transpose of the prepared weight into
// @prepare_weights. On the GPU filters are unchanged.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/common/InputRows.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

namespace {

using Dims = SmallVector<int64_t>;

/// Permutations from channels-first to channels-last and back, for `spatialRank + 2` dims.
Dims channelsLastPerm(int64_t spatialRank) {
  Dims perm = {0};
  perm.append(llvm::to_vector(llvm::seq<int64_t>(2, spatialRank + 2)));
  perm.push_back(1);
  return perm;
}
Dims channelsFirstPerm(int64_t spatialRank) {
  Dims perm = {0, spatialRank + 1};
  perm.append(llvm::to_vector(llvm::seq<int64_t>(1, spatialRank + 1)));
  return perm;
}

Dims permute(ArrayRef<int64_t> values, ArrayRef<int64_t> perm) {
  return llvm::map_to_vector(perm, [&](int64_t dim) { return values[dim]; });
}

/// A named transpose, which convoy-hoist-transposes can match.
Value namedTranspose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> perm) {
  Value empty =
      tensor::EmptyOp::create(builder, loc, permute(shapeOf(value), perm), elementTypeOf(value));
  return linalg::TransposeOp::create(builder, loc, value, empty, perm)->getResult(0);
}

/// The part of all rows that a convolution reads for its outputs from which it skips rows of
/// padding.
constexpr double kSkippedPadding = 0.25;

/// A channels-last convolution whose input is already padded.
struct Convolution {
  OpBuilder &builder;
  Location loc;
  Value input;   ///< N x spatial x C
  Value weights; ///< as in the op: K x C/groups x window, or K x window x C/groups when
                 ///< weightsChannelsLast
  bool weightsChannelsLast;
  Dims stride, dilation;
  int64_t groups;
  Dims outputShape; ///< N x spatial x K
  bool cuda;
  int64_t firstRow, endRow; ///< of the input in the first spatial dim, without padding

  int64_t spatialRank() const { return stride.size(); }
  Type accumulator() const { return computeType(elementTypeOf(input)); }

  Value zeros(ArrayRef<int64_t> shape) {
    return filled(builder, loc, shape, zeroOf(builder, loc, accumulator()));
  }

  /// The filter with its dims in the given order: 0 is K, 1 is C/groups, 2 and up are the window.
  Value filter(ArrayRef<int64_t> order) {
    Dims from = weightsChannelsLast ? channelsLastPerm(spatialRank())
                                    : llvm::to_vector(llvm::seq<int64_t>(0, spatialRank() + 2));
    Dims perm = llvm::map_to_vector(order, [&](int64_t dim) {
      return static_cast<int64_t>(llvm::find(from, dim) - from.begin());
    });
    return llvm::equal(perm, llvm::seq<int64_t>(0, perm.size()))
               ? weights
               : namedTranspose(builder, loc, weights, perm);
  }

  template <typename Op> Value named(Value image, Value kernel, ArrayRef<int64_t> shape) {
    auto attr = [&](ArrayRef<int64_t> values) { return builder.getI64TensorAttr(values); };
    Value init = zeros(shape);
    return Op::create(builder, loc, TypeRange(init.getType()), ValueRange{image, kernel},
                      ValueRange(init), attr(stride), attr(dilation))
        .getResult(0);
  }

  Value build();
  Value dense();
  /// Tells code generation which rows of the input of `result` are not padding, if most are.
  Value withRows(Value result, int64_t taps);
  Value depthwise();
  Value grouped();
  /// A grouped convolution with two spatial dims whose groups are a loop, but no dim of the image
  /// and the result: the ops after it become its epilogue, as those after a dense one. `kernel` is
  /// G x window x C x K.
  Value groupedInPlace(Value kernel);
  /// The sums of the products of `image` and `kernel` over the last spatialRank() + 1 loops.
  Value sumOfProducts(Value image, Value kernel, ArrayRef<int64_t> shape,
                      ArrayRef<AffineExpr> imageMap, ArrayRef<AffineExpr> kernelMap,
                      AffineMap resultMap);
};

} // namespace

Value Convolution::build() {
  if (spatialRank() == 1) {
    // A leading spatial dim of size 1 makes it 2-D.
    auto extended = [&](ArrayRef<int64_t> shape, int64_t at) {
      Dims result(shape);
      result.insert(result.begin() + at, 1);
      return result;
    };
    Dims shape = outputShape;
    input = reshapeTo(builder, loc, input, extended(shapeOf(input), 1));
    weights =
        reshapeTo(builder, loc, weights, extended(shapeOf(weights), weightsChannelsLast ? 1 : 2));
    outputShape = extended(outputShape, 1);
    firstRow = 0;
    endRow = 1;
    stride.insert(stride.begin(), 1);
    dilation.insert(dilation.begin(), 1);
    return reshapeTo(builder, loc, build(), shape);
  }
  if (groups == 1)
    return dense();
  bool oneToOne = groups == shapeOf(input).back() && groups == outputShape.back();
  return oneToOne && spatialRank() == 2 ? depthwise() : grouped();
}

Value Convolution::dense() {
  if (spatialRank() == 3)
    return named<linalg::Conv3DNdhwcDhwcfOp>(input, filter({2, 3, 4, 1, 0}), outputShape);
  if (cuda)
    return named<linalg::Conv2DNhwcFhwcOp>(input, filter({0, 2, 3, 1}), outputShape);
  Value kernel = filter({2, 3, 1, 0});
  return withRows(named<linalg::Conv2DNhwcHwcfOp>(input, kernel, outputShape), shapeOf(kernel)[0]);
}

Value Convolution::withRows(Value result, int64_t taps) {
  int64_t rows = outputShape[1], padding = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t at = row * stride[0] + tap * dilation[0];
      padding += at < firstRow || at >= endRow;
    }
  if (double(padding) > kSkippedPadding * double(rows * taps))
    result.getDefiningOp()->setAttr(kInputRowsAttr,
                                    builder.getDenseI64ArrayAttr({firstRow, endRow}));
  return result;
}

Value Convolution::depthwise() {
  Value kernel = filter({2, 3, 0, 1});
  kernel = reshapeTo(builder, loc, kernel, shapeOf(kernel).drop_back());
  return named<linalg::DepthwiseConv2DNhwcHwcOp>(input, kernel, outputShape);
}

Value Convolution::grouped() {
  // N x spatial x G x C times the filter gives N x spatial x G x K. The filter is G x window x C x
  // K on the CPU, G x K x window x C on the GPU, as in the op.
  int64_t rank = spatialRank();
  auto split = [&](ArrayRef<int64_t> shape) {
    Dims result(shape.drop_back());
    result.append({groups, shape.back() / groups});
    return result;
  };
  Dims order = {0}, perm = {0};
  order.append(llvm::to_vector(llvm::seq<int64_t>(2, rank + 2)));
  order.push_back(1);
  Value kernel = filter(order);
  Dims kernelShape = {groups, shapeOf(kernel)[0] / groups};
  kernelShape.append(shapeOf(kernel).begin() + 1, shapeOf(kernel).end());
  kernel = reshapeTo(builder, loc, kernel, kernelShape);
  if (!cuda) {
    perm.append(llvm::to_vector(llvm::seq<int64_t>(2, rank + 3)));
    perm.push_back(1);
    kernel = namedTranspose(builder, loc, kernel, perm);
    if (rank == 2 && elementTypeOf(input).isF32())
      return groupedInPlace(kernel);
  }
  Value image = reshapeTo(builder, loc, input, split(shapeOf(input)));
  Dims shape = split(outputShape);
  if (rank == 2 && cuda)
    return reshapeTo(builder, loc, named<linalg::Conv2DNhwgcGfhwcOp>(image, kernel, shape),
                     outputShape);

  // Loops: N, output spatial, G, K, then window and C.
  int64_t loops = 2 * rank + 4;
  auto d = [&](int64_t i) { return builder.getAffineDimExpr(i); };
  AffineExpr group = d(rank + 1), output = d(rank + 2), channel = d(loops - 1);
  SmallVector<AffineExpr> imageMap = {d(0)}, kernelMap = {group};
  if (cuda)
    kernelMap.push_back(output);
  for (int64_t i = 0; i < rank; ++i) {
    imageMap.push_back(d(1 + i) * stride[i] + d(rank + 3 + i) * dilation[i]);
    kernelMap.push_back(d(rank + 3 + i));
  }
  imageMap.append({group, channel});
  kernelMap.push_back(channel);
  if (!cuda)
    kernelMap.push_back(output);
  AffineMap resultMap = builder.getMultiDimIdentityMap(loops).getMajorSubMap(rank + 3);
  return reshapeTo(builder, loc,
                   sumOfProducts(image, kernel, shape, imageMap, kernelMap, resultMap),
                   outputShape);
}

Value Convolution::groupedInPlace(Value kernel) {
  // Loops: N, G, output spatial, K, then window and C.
  SmallVector<AffineExpr> d(8);
  bindDimsList<AffineExpr>(builder.getContext(), d);
  int64_t depth = shapeOf(input).back() / groups, channels = outputShape.back() / groups;
  AffineMap resultMap =
      AffineMap::get(8, 0, {d[0], d[2], d[3], d[1] * channels + d[4]}, builder.getContext());
  return sumOfProducts(input, kernel, outputShape,
                       {d[0], d[2] * stride[0] + d[5] * dilation[0],
                        d[3] * stride[1] + d[6] * dilation[1], d[1] * depth + d[7]},
                       {d[1], d[5], d[6], d[7], d[4]}, resultMap);
}

Value Convolution::sumOfProducts(Value image, Value kernel, ArrayRef<int64_t> shape,
                                 ArrayRef<AffineExpr> imageMap, ArrayRef<AffineExpr> kernelMap,
                                 AffineMap resultMap) {
  int64_t rank = spatialRank(), loops = resultMap.getNumDims();
  SmallVector<utils::IteratorType> iterators(rank + 3, utils::IteratorType::parallel);
  iterators.append(rank + 1, utils::IteratorType::reduction);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(loops, 0, results, builder.getContext());
  };
  return reductionGeneric(
      builder, loc, zeros(shape), {image, kernel}, {map(imageMap), map(kernelMap), resultMap},
      iterators, [](OpBuilder &inner, Location innerLoc, ValueRange args) {
        Type type = args[2].getType();
        Value product =
            arith::MulFOp::create(inner, innerLoc, convertFloat(inner, innerLoc, args[0], type),
                                  convertFloat(inner, innerLoc, args[1], type));
        return arith::AddFOp::create(inner, innerLoc, args[2], product).getResult();
      });
}

namespace {

/// tcp.conv1d, conv2d and conv3d of either layout.
struct ConvPattern : public OpInterfaceConversionPattern<tcp::ConvOpInterface> {
  using OpInterfaceConversionPattern<tcp::ConvOpInterface>::OpInterfaceConversionPattern;

  LogicalResult matchAndRewrite(tcp::ConvOpInterface op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    int64_t rank = op.getSpatialRank();
    bool channelsLast = op.getChannelsLast(), cuda = isCuda(op);
    Type elementType = elementTypeOf(operands[0]);
    Value input = productOperand(rewriter, loc, operands[0], cuda),
          weights = productOperand(rewriter, loc, operands[1], cuda);
    if (!channelsLast)
      input = transposed(rewriter, loc, input, channelsLastPerm(rank));
    int64_t unpadded = shapeOf(input)[1];
    Dims low(rank + 2, 0), high(rank + 2, 0);
    for (int64_t i = 0; i < rank; ++i) {
      low[i + 1] = op.getPad()[2 * i];
      high[i + 1] = op.getPad()[2 * i + 1];
    }
    input =
        padded(rewriter, loc, input, low, high, zeroOf(rewriter, loc, elementTypeOf(input)), cuda);
    Dims shape(shapeOf(op.getOutput()));
    if (!channelsLast)
      shape = permute(shape, channelsLastPerm(rank));
    Convolution conv = {rewriter,
                        loc,
                        input,
                        weights,
                        channelsLast,
                        Dims(op.getStride()),
                        Dims(op.getDilation()),
                        static_cast<int64_t>(op.getGroups()),
                        shape,
                        cuda,
                        low[1],
                        low[1] + unpadded};
    Value result = convertElements(rewriter, loc, conv.build(), elementType);
    if (!channelsLast)
      result = transposed(rewriter, loc, result, channelsFirstPerm(rank));
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void convoy::populateConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvPattern>(patterns.getContext());
}
