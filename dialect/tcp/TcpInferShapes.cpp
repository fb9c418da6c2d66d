// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of the tcp ops' results, from those of the operands, with the checks of constraints
// between shapes. Each has the label of its constraint in the op's description. The op's verifier
// has checked the attributes.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

LogicalResult convoy::tcp::detail::verifyShape(Operation *op) {
  Symbols none;
  FailureOr<Dims> expected = cast<ShapeOpInterface>(op).inferShape(
      llvm::map_to_vector(op->getOperands(), [](Value value) { return dimsOf(value); }), none);
  if (failed(expected))
    return failure();
  Dims result = dimsOf(op->getResult(0));
  if (none.canBeEqual(*expected, result))
    return success();
  return op->emitOpError() << "expects result shape " << none.str(*expected) << ", but got "
                           << none.str(result);
}

FailureOr<Dim> convoy::tcp::broadcastDim(ValueRange operands, ArrayRef<Dims> shapes, unsigned dim,
                                         const Symbols &symbols) {
  std::optional<Dim> result;
  for (auto [operand, shape] : llvm::zip_equal(operands, shapes)) {
    if (shapeOf(operand)[dim] == 1)
      continue;
    FailureOr<Dim> both = result ? symbols.meet(*result, shape[dim]) : shape[dim];
    if (failed(both))
      return failure();
    result = *both;
  }
  return result.value_or(1);
}

//===-- elementwise --------------------------------------------------------===//

// add_c1, sub_c1, mul_c1, div_c1, maximum_c1, minimum_c1, pow_c1, copysign_c1, compare_c1,
// select_c1
FailureOr<Dims> convoy::tcp::detail::inferBroadcast(Operation *op, ArrayRef<Dims> operands,
                                                    const Symbols &symbols) {
  Dims result;
  for (unsigned i = 0; i < operands.front().size(); ++i) {
    FailureOr<Dim> dim = broadcastDim(op->getOperands(), operands, i, symbols);
    if (failed(dim)) {
      InFlightDiagnostic diag =
          op->emitOpError("expects dims that are equal or 1, but got shapes ");
      llvm::interleave(
          operands, [&](const Dims &shape) { diag << symbols.str(shape); },
          [&] { diag << " and "; });
      return diag;
    }
    result.push_back(*dim);
  }
  return result;
}

//===-- reduction ----------------------------------------------------------===//

template <typename ReduceOp> static Dims inferReduce(ReduceOp op, ArrayRef<Dims> operands) {
  Dims result = operands[0];
  for (int64_t dim : op.getDims())
    result[dim] = 1;
  return result; // reduce_c2
}

FailureOr<Dims> ReduceSumOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}
FailureOr<Dims> ReduceMeanOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}
FailureOr<Dims> ReduceMaxOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return inferReduce(*this, operands);
}

//===-- shape --------------------------------------------------------------===//

FailureOr<Dims> ReshapeOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // reshape_c1
  Dims result = dimsOf(getOutput()), known;
  llvm::copy_if(result, std::back_inserter(known), [](Dim dim) { return dim.isNumber(); });
  Dim from = elementsOf(operands[0]), to = elementsOf(known);
  if (known.size() == result.size() && !symbols.canBeEqual(from, to))
    return emitOpError("expects a result of ")
           << symbols.str(from) << " elements, but got " << symbols.str(to);
  if (from.isNumber() && known.size() < result.size() &&
      (to.is(0) ? !from.is(0) : !isMultipleOf(from, to.size())))
    return emitOpError("expects a result of ")
           << symbols.str(from) << " elements, but got " << (to.is(0) ? "" : "a multiple of ")
           << symbols.str(to);
  // The elements determine one unknown dim.
  if (known.size() + 1 == result.size() && !to.is(0))
    *llvm::find_if(result, [](Dim dim) { return dim.isUnknown(); }) = floorDiv(from, to);
  return result;
}

FailureOr<Dims> TransposeOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  // transpose_c2
  Dims result;
  for (int64_t dim : getPerm())
    result.push_back(operands[0][dim]);
  return result;
}

FailureOr<Dims> SliceOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  Dims result;
  for (auto [input, start, size, stride] :
       llvm::zip_equal(operands[0], getStarts(), getSizes(), getStrides())) {
    // slice_c2
    int64_t last = size == kRestOfDim ? start : start + (size - 1) * stride;
    if (std::optional<int64_t> most = symbols.bound(input, /*isUpper=*/true); most && last >= *most)
      return emitOpError("expects a slice inside ")
             << symbols.str(operands[0]) << ", but got starts " << str(getStarts()) << ", sizes "
             << str(getSizes()) << ", strides " << str(getStrides());
    // slice_c3
    result.push_back(size == kRestOfDim ? floorDiv(input - start - 1, stride) + 1 : Dim(size));
  }
  return result;
}

FailureOr<Dims> PadOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // pad_c2
  Dims result;
  for (auto [size, low, high, interior] :
       llvm::zip_equal(operands[0], getLow(), getHigh(), getInterior()))
    result.push_back(size + low + high + (size.is(0) ? Dim(0) : size - 1) * interior);
  if (llvm::any_of(result, [](Dim dim) { return dim.isNumber() && dim.size() < 0; }))
    return emitOpError("expects non-negative result dims, but got ") << symbols.str(result);
  return result;
}

FailureOr<Dims> BroadcastOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // broadcast_c1
  Dims result = dimsOf(getOutput());
  for (auto [type, dim, to] : llvm::zip_equal(shapeOf(getInput()), operands[0], result)) {
    if (type == 1)
      continue;
    FailureOr<Dim> both = symbols.meet(dim, to);
    if (failed(both))
      return emitOpError("expects input dims equal to the result's or 1, but got ")
             << symbols.str(operands[0]) << " and " << symbols.str(dimsOf(getOutput()));
    to = *both;
  }
  return result;
}

FailureOr<Dims> ReverseOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  return operands[0];
}

FailureOr<Dims> ConcatOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // concat_c2
  Dims result = operands[0];
  int64_t dim = getDim();
  for (const Dims &input : operands.drop_front())
    for (auto [i, size, each] : llvm::enumerate(result, input)) {
      if (int64_t(i) == dim) {
        size = size + each;
        continue;
      }
      FailureOr<Dim> both = symbols.meet(size, each);
      if (failed(both))
        return emitOpError("expects inputs with equal dims except dim ")
               << dim << ", but got " << symbols.str(operands[0]) << " and " << symbols.str(input);
      size = *both;
    }
  return result;
}

//===-- indices ------------------------------------------------------------===//

FailureOr<Dims> IotaOp::inferShape(ArrayRef<Dims>, const Symbols &) { return dimsOf(getOutput()); }

FailureOr<Dims> IndexSelectOp::inferShape(ArrayRef<Dims> operands, const Symbols &) {
  // index_select_c2
  ArrayRef<Dim> input = operands[0];
  int64_t dim = getDim().getSExtValue();
  Dims result(input.take_front(dim));
  llvm::append_range(result, operands[1]);
  llvm::append_range(result, input.drop_front(dim + 1));
  return result;
}

/// Whether the indices have the rank of the input, and each dim except `dim` fits.
static bool fitsExcept(int64_t dim, ArrayRef<Dim> indices, ArrayRef<Dim> input,
                       llvm::function_ref<bool(Dim index, Dim size)> fits) {
  if (indices.size() != input.size())
    return false;
  return llvm::all_of(llvm::enumerate(indices, input), [&](auto each) {
    auto [i, index, size] = each;
    return int64_t(i) == dim || fits(index, size);
  });
}

FailureOr<Dims> GatherOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // gather_c2
  int64_t dim = getDim().getSExtValue();
  auto isInside = [&](Dim index, Dim size) {
    return symbols.bound(index - size, /*isUpper=*/false).value_or(0) <= 0;
  };
  if (!fitsExcept(dim, operands[1], operands[0], isInside))
    return emitOpError("expects indices of the input's rank, and at most its size in each dim "
                       "except dim ")
           << dim << ", but got " << symbols.str(operands[1]) << " for "
           << symbols.str(operands[0]);
  // gather_c3
  return operands[1];
}

FailureOr<Dims> ScatterOp::inferShape(ArrayRef<Dims> operands, const Symbols &symbols) {
  // scatter_c2
  const Dims &input = operands[0], &indices = operands[1], &updates = operands[2];
  int64_t dim = getDim().getSExtValue();
  auto broadcasts = [&](Dim index, Dim size) {
    return index.is(1) || symbols.canBeEqual(index, size);
  };
  if (!fitsExcept(dim, indices, input, broadcasts))
    return emitOpError("expects indices of the input's rank, whose dims except dim ")
           << dim << " are 1 or the input's, but got " << symbols.str(indices) << " for "
           << symbols.str(input);
  // scatter_c3
  Dims expected = input;
  expected[dim] = indices[dim];
  if (!symbols.canBeEqual(updates, expected))
    return emitOpError("expects updates of shape ")
           << symbols.str(expected) << ", but got " << symbols.str(updates);
  // scatter_c4
  return input;
}
