// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the tcp ops, for constraints on ranks and attributes that traits cannot express.
// Each check has the label of its constraint in the op's description. TcpVerifyWindows.cpp
// has convolutions and poolings; TcpInferShapes.cpp and TcpInferWindows.cpp have the constraints on
// shapes.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

static LogicalResult expectDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "expects 'dim' below the rank " << rank << " of the input, but got "
                           << dim;
}

static LogicalResult expectDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || (i && dims[i - 1] >= dim))
      return op->emitOpError() << "expects 'dims' sorted, distinct and below " << rank
                               << ", but got " << str(dims);
  return success();
}

//===-- elementwise --------------------------------------------------------===//

LogicalResult GeluOp::verify() {
  // gelu_c1
  StringRef approximate = getApproximateAttr();
  if (!symbolizeGeluApproximation(approximate))
    return emitOpError("expects 'approximate' to be \"none\" or \"tanh\", but got \"")
           << approximate << '"';
  return success();
}

LogicalResult PolynomialOp::verify() {
  // polynomial_c1
  if (getCoefficients().empty())
    return emitOpError("expects at least one number in 'coefficients', but got none");
  return success();
}

LogicalResult ClampOp::verify() {
  // clamp_c1
  if (!getMinFloat() && !getMaxFloat())
    return emitOpError("expects 'min_float', 'max_float' or both, but got neither");
  // clamp_c2
  if (getMinFloat() && getMaxFloat() && *getMinFloat() > *getMaxFloat())
    return emitOpError("expects 'min_float' at most 'max_float', but got ")
           << getMinFloat()->convertToFloat() << " and " << getMaxFloat()->convertToFloat();
  return success();
}

LogicalResult CompareOp::verify() {
  // compare_c2
  StringRef predicate = getPredicateAttr();
  if (!symbolizeComparePredicate(predicate))
    return emitOpError("expects 'predicate' to be eq, ne, lt, le, gt or ge, but got ") << predicate;
  return success();
}

//===-- linear -------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  // attention_c5
  if (getSoftcap() && !(getSoftcap()->isFiniteNonZero() && !getSoftcap()->isNegative()))
    return emitOpError("expects a positive, finite 'softcap', but got ")
           << getSoftcap()->convertToDouble();
  // attention_c6
  if (getWindowAttr() && getWindowAttr().getInt() <= 0)
    return emitOpError("expects a positive 'window', but got ") << getWindowAttr().getInt();
  return success();
}

LogicalResult MatmulOp::verify() {
  // matmul_c1
  if (size_t rank = shapeOf(getLhs()).size(); rank < 2)
    return emitOpError("expects operands of rank at least 2, but got ") << rank;
  return success();
}

//===-- reduction ----------------------------------------------------------===//

template <typename ReduceOp> static LogicalResult verifyReduce(ReduceOp op) {
  return expectDims(op, op.getDims(), shapeOf(op.getInput()).size()); // reduce_c1
}

LogicalResult ReduceSumOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMeanOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMaxOp::verify() { return verifyReduce(*this); }

template <typename CumulativeOp> static LogicalResult verifyCumulative(CumulativeOp op) {
  // cumsum_c1, cumprod_c1
  if (failed(expectDim(op, op.getDim().getSExtValue(), shapeOf(op.getInput()).size())))
    return failure();
  // cumsum_c2, cumprod_c2
  if (getElementTypeOrSelf(op.getInput()).isInteger(1))
    return op.emitOpError("expects elements that are numbers, but got i1");
  return success();
}

LogicalResult CumsumOp::verify() { return verifyCumulative(*this); }
LogicalResult CumprodOp::verify() { return verifyCumulative(*this); }

LogicalResult SoftmaxOp::verify() {
  // softmax_c1
  int64_t rank = shapeOf(getInput()).size(), dim = static_cast<int64_t>(getDim());
  if (dim < 0 || dim >= rank)
    return emitOpError("expects 'dim' in 0 to ") << rank - 1 << ", but got " << dim;
  return success();
}

LogicalResult LayerNormOp::verify() {
  return expectDims(*this, getDims(), shapeOf(getInput()).size()); // layer_norm_c1
}

//===-- shape --------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  // transpose_c1
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, input.size())))
    return emitOpError("expects 'perm' to be a permutation of ")
           << input.size() << " dims, but got " << str(getPerm());
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> input = shapeOf(getInput());
  // slice_c1
  if (failed(expectCount(*this, "starts", getStarts(), input.size(), 0)) ||
      failed(expectCount(*this, "sizes", getSizes(), input.size(), kRestOfDim)) ||
      failed(expectCount(*this, "strides", getStrides(), input.size(), 1)))
    return failure();
  for (auto [i, dim, size] : llvm::enumerate(input, getSizes()))
    if (size < 1 && (size != kRestOfDim || ShapedType::isStatic(dim)))
      return emitOpError("expects numbers of at least 1 in 'sizes', or -1 where the input has ?, "
                         "but got ")
             << str(getSizes()) << " for " << str(input);
  return success();
}

LogicalResult PadOp::verify() {
  int64_t rank = shapeOf(getInput()).size();
  constexpr int64_t any = std::numeric_limits<int64_t>::min();
  // pad_c1
  return success(succeeded(expectCount(*this, "low", getLow(), rank, any)) &&
                 succeeded(expectCount(*this, "high", getHigh(), rank, any)) &&
                 succeeded(expectCount(*this, "interior", getInterior(), rank, 0)));
}

LogicalResult ReverseOp::verify() {
  return expectDims(*this, getDims(), shapeOf(getInput()).size());
} // reverse_c1

LogicalResult ConcatOp::verify() {
  // concat_c1; a trait checks that there is an input.
  int64_t dim = getDim(), rank = shapeOf(getInputs().front()).size();
  if (dim < 0 || dim >= rank)
    return emitOpError("expects 'dim' in 0 to ") << rank - 1 << ", but got " << dim;
  return success();
}

//===-- indices ------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  // iota_c1
  size_t rank = shapeOf(getOutput()).size();
  if (getDim().uge(rank))
    return emitOpError("expects 'dim' below the rank ")
           << rank << ", but got " << getDim().getZExtValue();
  return success();
}

LogicalResult IndexSelectOp::verify() {
  // index_select_c1
  return expectDim(*this, getDim().getSExtValue(), shapeOf(getInput()).size());
}

LogicalResult GatherOp::verify() {
  // gather_c1
  return expectDim(*this, getDim().getSExtValue(), shapeOf(getInput()).size());
}

LogicalResult ArgsortOp::verify() {
  // argsort_c1
  ArrayRef<int64_t> input = shapeOf(getInput());
  if (input.empty())
    return emitOpError("expects an input of rank at least 1, but got 0");
  // argsort_c2
  if (input.back() > std::numeric_limits<int32_t>::max())
    return emitOpError("expects less than 2^31 elements in the last dim, but got ") << input.back();
  return success();
}

LogicalResult ScatterOp::verify() {
  // scatter_c1
  if (failed(expectDim(*this, getDim().getSExtValue(), shapeOf(getInput()).size())))
    return failure();
  // scatter_c5
  StringRef kind = getKindAttr();
  if (!symbolizeScatterKind(kind))
    return emitOpError("expects 'kind' to be set, add, mul, max or min, but got ") << kind;
  return success();
}

//===-- groups -------------------------------------------------------------===//

LogicalResult IsolatedGroupOp::verify() {
  Block &body = getBody().front();
  // isolated_group_c1
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("expects block arguments with the operands' types: ")
           << getInputs().getTypes() << ", but got " << body.getArgumentTypes();
  // isolated_group_c2
  if (!isa<YieldOp>(body.back()))
    return emitOpError("expects a body that ends in 'tcp.yield'");
  return success();
}

LogicalResult IsolatedGroupOp::verifyRegions() {
  // isolated_group_c2
  auto yield = cast<YieldOp>(getBody().front().back());
  if (yield.getResults().getTypes() != getOutputs().getTypes())
    return emitOpError("expects 'tcp.yield' with the results' types: ")
           << getOutputs().getTypes() << ", but got " << yield.getResults().getTypes();
  return success();
}
