// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layer norm, of which group and instance norms are reshapes. The statistics are f32 for narrower
// floats, and take two passes, the mean and the mean of squared differences, to avoid cancellation.

#include "dialect/tcp/TcpOps.h"
#include "passes/common/RowLoops.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Patterns.h"
#include "passes/tcp_to_linalg/ReductionUtils.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Splits the dims of a reduction into two steps: those outside of another dim, and those inside of
/// all others. In the first step, neighboring threads read neighboring elements, as in a group norm
/// of channels-last images, where a row has only the few channels of a group of each pixel. The
/// second step keeps its dims, so that later loops over them and the others merge. Short rows have
/// one step, since a block that keeps a row in registers reads it only once.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> stepsOf(ArrayRef<int64_t> shape,
                                                              ArrayRef<int64_t> dims) {
  int64_t inside = shape.size(), length = 1;
  while (inside > 0 && (shape[inside - 1] == 1 || llvm::is_contained(dims, inside - 1)))
    --inside;
  SmallVector<int64_t> first, last;
  for (int64_t dim : dims) {
    length *= shape[dim];
    (dim < inside ? first : last).push_back(dim);
  }
  if (length > kLongRow && !first.empty())
    return {first, last};
  return {SmallVector<int64_t>(dims), {}};
}

/// A division of long rows into parts.
struct Parts {
  SmallVector<int64_t> shape;  ///< of the input, with one of its dims split in two
  SmallVector<int64_t> inside; ///< dims of this shape over which a part extends
  SmallVector<int64_t> across; ///< dims of this shape that number the parts of a row
};

/// Divides rows that one block would not reduce well, on a GPU: each part is a short row, whose
/// statistics take one kernel that keeps it in registers, and few parts are left to combine.
/// Returns nullopt for other rows, and for large inputs where neighboring elements of a row are
/// less than 16 bytes, because the parts would read memory more than once.
std::optional<Parts> partsOf(RankedTensorType type, ArrayRef<int64_t> dims) {
  constexpr int64_t kLeastBytes = 16, kLeastCachedBytes = 4, kCachedBytes = 8 << 20,
                    kLeastPart = 256, kPart = 1 << 10, kMostPart = 1 << 13, kEnoughParts = 1 << 14;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t length = 1, rows = 1, adjacent = 1;
  bool isContiguous = true;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    bool isReduced = llvm::is_contained(dims, dim);
    isContiguous &= isReduced || shape[dim] == 1 || llvm::all_of(dims, [&](int64_t other) {
                      return other > dim || shape[other] == 1;
                    });
    if (length == adjacent && rows == 1 && isReduced)
      adjacent *= shape[dim];
    (isReduced ? length : rows) *= shape[dim];
  }
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (length <= (isContiguous ? mostOfBlock(rows) : kLongRow) ||
      adjacent * bytes < (rows * length * bytes > kCachedBytes ? kLeastBytes : kLeastCachedBytes))
    return std::nullopt;

  int64_t most = kPart;
  while (most < kMostPart && rows * (length / most) > kEnoughParts)
    most *= 2;
  int64_t size = 1, cut = type.getRank();
  while (cut-- > 0) {
    if (!llvm::is_contained(dims, cut))
      continue;
    if (size * shape[cut] > most)
      break;
    size *= shape[cut];
  }
  int64_t inner = most / size;
  while (shape[cut] % inner != 0)
    --inner;
  if (size * inner < kLeastPart)
    return std::nullopt;

  Parts parts;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim == cut) {
      parts.across.push_back(parts.shape.size());
      parts.shape.push_back(shape[dim] / inner);
    }
    if (llvm::is_contained(dims, dim))
      (dim < cut ? parts.across : parts.inside).push_back(parts.shape.size());
    parts.shape.push_back(dim == cut ? inner : shape[dim]);
  }
  return parts;
}

/// The mean of each row, and the sum of its squared differences from it. Both keep the rank of the
/// input, with 1 at the reduced dims.
struct Statistics {
  Value mean, squares;
};

class StatisticsBuilder {
public:
  StatisticsBuilder(OpBuilder &builder, Location loc, Type compute)
      : b(builder), loc(loc), compute(compute) {}

  /// Statistics of `input` over `first`, then over the dims `last` of the results, which keep them.
  Statistics of(Value input, ArrayRef<int64_t> first, ArrayRef<int64_t> last) {
    auto sumLast = [&](Value sums) { return last.empty() ? sums : sumForEach(b, loc, sums, last); };
    Value mean = dividedBy(sumLast(sum(b, loc, input, first)),
                           countOver(input, first) * countOver(input, last));
    Value squares =
        reduce(b, loc, {input, mean}, first, zeroOf(b, loc, compute),
               [&](OpBuilder &builder, Location inner, ValueRange args) {
                 return addInAnyOrder(builder, inner, args[2],
                                      squaredDifference(builder, inner, args[0], args[1]));
               });
    return {mean, sumLast(squares)};
  }

  /// Statistics of rows from those of their parts, which have equal sizes (Chan, Golub and LeVeque,
  /// "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances").
  Statistics of(Value input, const Parts &parts) {
    Value split = reshapeTo(b, loc, input, parts.shape);
    Statistics each = of(split, parts.inside, {});
    double size = countOver(split, parts.inside);
    Value mean = dividedBy(sum(b, loc, each.mean, parts.across), countOver(split, parts.across));
    Value squares =
        reduce(b, loc, {each.squares, each.mean, mean}, parts.across, zeroOf(b, loc, compute),
               [&](OpBuilder &builder, Location inner, ValueRange args) {
                 Value square = squaredDifference(builder, inner, args[1], args[2]);
                 square = arith::MulFOp::create(builder, inner, square,
                                                scalarConstant(builder, inner, compute, size));
                 square = arith::AddFOp::create(builder, inner, args[0], square);
                 return addInAnyOrder(builder, inner, args[3], square);
               });
    SmallVector<int64_t> dims = parts.inside;
    llvm::append_range(dims, parts.across);
    // The split dim has one number of parts and one size.
    SmallVector<int64_t> shape = keptShape(parts.shape, dims);
    shape.erase(shape.begin() + parts.across.back());
    return {reshapeTo(b, loc, mean, shape), reshapeTo(b, loc, squares, shape)};
  }

private:
  Value dividedBy(Value sums, double count) {
    return broadcastGeneric(b, loc, cast<RankedTensorType>(sums.getType()), sums,
                            [&](OpBuilder &builder, Location inner, ValueRange args) {
                              return arith::DivFOp::create(
                                         builder, inner, args[0],
                                         scalarConstant(builder, inner, compute, count))
                                  .getResult();
                            });
  }

  /// The square of the difference of `x` and `mean`.
  Value squaredDifference(OpBuilder &builder, Location inner, Value x, Value mean) {
    Value difference =
        arith::SubFOp::create(builder, inner, convertFloat(builder, inner, x, compute), mean);
    return arith::MulFOp::create(builder, inner, difference, difference);
  }

  OpBuilder &b;
  Location loc;
  Type compute;
};

struct LayerNormPattern : public OpConversionPattern<tcp::LayerNormOp> {
  using OpConversionPattern<tcp::LayerNormOp>::OpConversionPattern;

  LogicalResult matchAndRewrite(tcp::LayerNormOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    auto type = cast<RankedTensorType>(input.getType());
    Type compute = computeType(type.getElementType());
    ArrayRef<int64_t> dims = op.getDims();
    double count = countOver(input, dims), epsilon = op.getEpsilon().convertToDouble();
    StatisticsBuilder statistics(rewriter, loc, compute);
    std::optional<Parts> parts = isCuda(op) ? partsOf(type, dims) : std::nullopt;
    auto [first, last] = stepsOf(type.getShape(), dims);
    auto [mean, squares] = parts ? statistics.of(input, *parts) : statistics.of(input, first, last);
    Value scale = broadcastGeneric(
        rewriter, loc, cast<RankedTensorType>(squares.getType()), squares,
        [&](OpBuilder &builder, Location inner, ValueRange args) {
          Value variance = arith::DivFOp::create(builder, inner, args[0],
                                                 scalarConstant(builder, inner, compute, count));
          variance = arith::AddFOp::create(builder, inner, variance,
                                           scalarConstant(builder, inner, compute, epsilon));
          Value deviation = math::SqrtOp::create(builder, inner, variance);
          return arith::DivFOp::create(builder, inner, scalarConstant(builder, inner, compute, 1),
                                       deviation)
              .getResult();
        });
    rewriter.replaceOp(
        op, broadcastGeneric(rewriter, loc, type, {input, mean, scale},
                             [&](OpBuilder &builder, Location inner, ValueRange args) {
                               Value x = convertFloat(builder, inner, args[0], compute);
                               x = arith::SubFOp::create(builder, inner, x, args[1]);
                               x = arith::MulFOp::create(builder, inner, x, args[2]);
                               return convertFloat(builder, inner, x, type.getElementType());
                             }));
    return success();
  }
};

} // namespace

void convoy::populateLayerNormPatterns(RewritePatternSet &patterns) {
  patterns.add<LayerNormPattern>(patterns.getContext());
}
