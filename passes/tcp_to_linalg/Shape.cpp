// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops that move elements. On the GPU each becomes one generic, so that it is one kernel. On the CPU
// views and insertions are cheaper, since producers can write directly into the result.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/StridedReads.h"

using namespace mlir;
using namespace convoy;

namespace {

Value sameElement(OpBuilder &, Location, ValueRange args) { return args[0]; }

SmallVector<OpFoldResult> indexAttrs(OpBuilder &builder, ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(builder.getContext(), values);
}

struct ReshapePattern : public OpConversionPattern<tcp::ReshapeOp> {
  using OpConversionPattern<tcp::ReshapeOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto slice = op.getInput().getDefiningOp<tcp::SliceOp>();
    Value input = slice && isCuda(op) ? rewriter.getRemappedValue(slice.getInput()) : Value();
    if (Value read = input ? termRead(rewriter, slice, input, shapeOf(op.getOutput())) : Value()) {
      rewriter.replaceOp(op, read);
      return success();
    }
    rewriter.replaceOp(
        op, reshapeTo(rewriter, op.getLoc(), adaptor.getInput(), op.getType().getShape()));
    return success();
  }
};

struct TransposePattern : public OpConversionPattern<tcp::TransposeOp> {
  using OpConversionPattern<tcp::TransposeOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    // A transpose that moves only dims of size 1 is a reshape.
    SmallVector<int64_t> order;
    for (int64_t dim : op.getPerm())
      if (shapeOf(adaptor.getInput())[dim] != 1)
        order.push_back(dim);
    rewriter.replaceOp(
        op, llvm::is_sorted(order)
                ? reshapeTo(rewriter, op.getLoc(), adaptor.getInput(), shapeOf(op.getOutput()))
                : transposed(rewriter, op.getLoc(), adaptor.getInput(), op.getPerm()));
    return success();
  }
};

struct SlicePattern : public OpConversionPattern<tcp::SliceOp> {
  using OpConversionPattern<tcp::SliceOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    if (isCuda(op)) {
      Value read = termRead(rewriter, op, adaptor.getInput(), op.getSizes());
      rewriter.replaceOp(op, read ? read
                                  : stridedRead(rewriter, op.getLoc(), adaptor.getInput(),
                                                op.getStarts(), op.getSizes(), op.getStrides()));
      return success();
    }
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, adaptor.getInput(), indexAttrs(rewriter, op.getStarts()),
        indexAttrs(rewriter, op.getSizes()), indexAttrs(rewriter, op.getStrides()));
    return success();
  }
};

struct BroadcastPattern : public OpConversionPattern<tcp::BroadcastOp> {
  using OpConversionPattern<tcp::BroadcastOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    rewriter.replaceOp(
        op, broadcastGeneric(rewriter, op.getLoc(), type, adaptor.getInput(), sameElement));
    return success();
  }
};

struct ReversePattern : public OpConversionPattern<tcp::ReverseOp> {
  using OpConversionPattern<tcp::ReverseOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    ArrayRef<int64_t> shape = shapeOf(adaptor.getInput());
    SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
    for (int64_t dim : op.getDims()) {
      starts[dim] = shape[dim] - 1;
      strides[dim] = -1;
    }
    rewriter.replaceOp(
        op, stridedRead(rewriter, op.getLoc(), adaptor.getInput(), starts, shape, strides));
    return success();
  }
};

/// On the GPU one generic that finds the input by index; on the CPU one insertion per input.
struct ConcatPattern : public OpConversionPattern<tcp::ConcatOp> {
  using OpConversionPattern<tcp::ConcatOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::ConcatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    int64_t dim = op.getDim();
    if (isCuda(op)) {
      rewriter.replaceOp(op, choose(rewriter, loc, type, dim, adaptor.getInputs()));
      return success();
    }
    Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    int64_t offset = 0;
    for (Value input : adaptor.getInputs()) {
      result = insertAlong(rewriter, loc, input, result, dim, offset);
      offset += shapeOf(input)[dim];
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  static Value choose(OpBuilder &builder, Location loc, RankedTensorType type, int64_t dim,
                      ValueRange inputs) {
    SmallVector<Part> parts;
    int64_t start = 0;
    for (Value input : inputs) {
      if (shapeOf(input)[dim] != 0)
        parts.push_back({input, start});
      start += shapeOf(input)[dim];
    }
    if (parts.empty())
      parts.push_back({inputs.front(), 0});
    return parallelGeneric(builder, loc, type, {}, {},
                           [&](OpBuilder &inner, Location innerLoc, ValueRange) {
                             SmallVector<Value> indices;
                             for (int64_t i = 0; i < type.getRank(); ++i)
                               indices.push_back(linalg::IndexOp::create(inner, innerLoc, i));
                             return read(inner, innerLoc, parts, dim, indices);
                           });
  }

  /// An input, and the index in the result at which it starts.
  struct Part {
    Value input;
    int64_t start;
  };

  /// Reads the element at `indices` from the part that has it, which a binary search finds.
  static Value read(OpBuilder &builder, Location loc, ArrayRef<Part> parts, int64_t dim,
                    SmallVector<Value> indices) {
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    if (parts.size() == 1) {
      if (parts[0].start != 0)
        indices[dim] = arith::SubIOp::create(builder, loc, indices[dim], constant(parts[0].start));
      return tensor::ExtractOp::create(builder, loc, parts[0].input, indices);
    }
    size_t half = parts.size() / 2;
    Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, indices[dim],
                                         constant(parts[half].start));
    auto yield = [&](ArrayRef<Part> here) {
      return [&, here](OpBuilder &inner, Location innerLoc) {
        scf::YieldOp::create(inner, innerLoc, read(inner, innerLoc, here, dim, indices));
      };
    };
    return scf::IfOp::create(builder, loc, before, yield(parts.take_front(half)),
                             yield(parts.drop_front(half)))
        .getResult(0);
  }
};

/// On the CPU a fill and an insertion; on the GPU, and if negative padding crops, one generic.
struct PadPattern : public OpConversionPattern<tcp::PadOp> {
  using OpConversionPattern<tcp::PadOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::PadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    Value padding =
        scalarConstant(rewriter, loc, type.getElementType(), op.getValue().convertToDouble());
    bool cuda = isCuda(op);
    rewriter.replaceOp(op, cuda || isCut(op)
                               ? gather(rewriter, op, adaptor.getInput(), type, padding)
                               : spread(rewriter, op, adaptor.getInput(), type, padding));
    return success();
  }

  static bool isCut(tcp::PadOp op) {
    auto negative = [](int64_t value) { return value < 0; };
    return llvm::any_of(op.getLow(), negative) || llvm::any_of(op.getHigh(), negative);
  }

  /// A fill and a strided insertion.
  static Value spread(OpBuilder &builder, tcp::PadOp op, Value input, RankedTensorType type,
                      Value padding) {
    SmallVector<int64_t> strides;
    for (int64_t interior : op.getInterior())
      strides.push_back(interior + 1);
    return tensor::InsertSliceOp::create(
        builder, op.getLoc(), input, filled(builder, op.getLoc(), type.getShape(), padding),
        indexAttrs(builder, op.getLow()), indexAttrs(builder, shapeOf(input)),
        indexAttrs(builder, strides));
  }

  /// A generic over the result that reads the corresponding element of the input, if any.
  static Value gather(OpBuilder &builder, tcp::PadOp op, Value input, RankedTensorType type,
                      Value padding) {
    // An empty input has no element to read.
    if (llvm::is_contained(shapeOf(input), 0))
      return filled(builder, op.getLoc(), type.getShape(), padding);
    return parallelGeneric(
        builder, op.getLoc(), type, {}, {}, [&](OpBuilder &inner, Location loc, ValueRange) {
          auto constant = [&](int64_t value) {
            return arith::ConstantIndexOp::create(inner, loc, value).getResult();
          };
          SmallVector<Value> indices;
          Value inside;
          auto require = [&](Value condition) {
            inside =
                inside ? Value(arith::AndIOp::create(inner, loc, inside, condition)) : condition;
          };
          for (auto [i, size, low, high, interior] :
               llvm::enumerate(shapeOf(input), op.getLow(), op.getHigh(), op.getInterior())) {
            Value index = linalg::IndexOp::create(inner, loc, i);
            if (low)
              index = arith::SubIOp::create(inner, loc, index, constant(low));
            int64_t reach = (size - 1) * (interior + 1);
            if (low > 0 || high > 0) {
              // A negative index is large as an unsigned number.
              require(arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ule, index,
                                            constant(reach)));
              index = arith::MaxSIOp::create(
                  inner, loc, arith::MinSIOp::create(inner, loc, index, constant(reach)),
                  constant(0));
            }
            if (interior) {
              Value remainder = arith::RemUIOp::create(inner, loc, index, constant(interior + 1));
              require(arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, remainder,
                                            constant(0)));
              index = arith::DivUIOp::create(inner, loc, index, constant(interior + 1));
            }
            indices.push_back(index);
          }
          Value element = tensor::ExtractOp::create(inner, loc, input, indices);
          return inside ? Value(arith::SelectOp::create(inner, loc, inside, element, padding))
                        : element;
        });
  }
};

/// Inlines the remaining groups, which are computed op by op.
struct InlineGroupPattern : public OpConversionPattern<tcp::IsolatedGroupOp> {
  using OpConversionPattern<tcp::IsolatedGroupOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::IsolatedGroupOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Block &body = op.getBody().front();
    auto yield = cast<tcp::YieldOp>(body.getTerminator());
    SmallVector<Value> results(yield.getResults());
    rewriter.inlineBlockBefore(&body, op, adaptor.getInputs());
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void convoy::populateShapePatterns(RewritePatternSet &patterns) {
  patterns.add<ReshapePattern, TransposePattern, SlicePattern, BroadcastPattern, ReversePattern,
               ConcatPattern, PadPattern, InlineGroupPattern>(patterns.getContext());
}
