// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/ContractionEpilogue.h"
#include "passes/common/Buffers.h"

using namespace mlir;

namespace convoy {
namespace {

/// The loops of `epilogue` for `dims` of a tensor of `shape`; -1 for dims of size 1 that it lacks.
FailureOr<OutputDims> loopsOf(linalg::GenericOp epilogue, ArrayRef<int64_t> shape,
                              OutputDims dims) {
  SmallVector<int64_t> ranges = epilogue.getStaticLoopRanges();
  if (ArrayRef(ranges) == shape)
    return dims;
  SmallVector<int> loops(shape.size(), -1);
  size_t next = 0;
  auto skipUnits = [&] {
    while (next < ranges.size() && ranges[next] == 1)
      ++next;
  };
  for (auto [loop, size] : llvm::zip_equal(loops, shape)) {
    if (size == 1)
      continue;
    skipUnits();
    if (next == ranges.size() || ranges[next] != size)
      return failure();
    loop = next++;
  }
  skipUnits();
  if (next != ranges.size())
    return failure();
  for (int *dim : {&dims.n, &dims.h, &dims.w, &dims.k, &dims.g})
    if (*dim >= 0)
      *dim = loops[*dim];
  return dims;
}

/// Strides of an operand of the epilogue along the output's dims, which are loops of `ranges`.
FailureOr<PixelBuffer> describe(Value value, AffineMap map, const OutputDims &dims,
                                ArrayRef<int64_t> ranges) {
  FailureOr<SmallVector<int64_t>> strides = staticStrides(value);
  if (failed(strides) || map.getNumResults() != strides->size())
    return failure();
  PixelBuffer buffer{value};
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), *strides)) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return failure();
    int position = dim.getPosition();
    if (position == dims.n)
      buffer.n += stride;
    else if (position == dims.h)
      buffer.h += stride;
    else if (position == dims.w)
      buffer.w += stride;
    else if (position == dims.k)
      buffer.k += stride;
    else if (position == dims.g)
      buffer.g += stride;
    else if (ranges[position] != 1)
      return failure();
  }
  if (buffer.k != 0 && buffer.k != 1)
    return failure();
  return buffer;
}

} // namespace

LogicalResult addEpilogue(Contraction &contraction, Value result, OutputDims dims, bool hasGroups) {
  linalg::GenericOp epilogue = contraction.epilogue;
  FailureOr<OutputDims> loops =
      loopsOf(epilogue, cast<MemRefType>(result.getType()).getShape(), dims);
  if (failed(loops))
    return failure();
  SmallVector<int64_t> ranges = epilogue.getStaticLoopRanges();
  // Groups of channels are no dim of the epilogue.
  auto addGroups = [&](PixelBuffer &buffer) {
    if (hasGroups)
      buffer.g = buffer.k * contraction.channels;
  };
  for (OpOperand *operand : epilogue.getDpsInputOperands()) {
    if (withoutUnitReshapes(operand->get()) == withoutUnitReshapes(result)) {
      contraction.operands.push_back({});
      continue;
    }
    FailureOr<PixelBuffer> buffer =
        describe(operand->get(), epilogue.getMatchingIndexingMap(operand), *loops, ranges);
    if (failed(buffer))
      return failure();
    addGroups(*buffer);
    contraction.operands.push_back(*buffer);
  }
  FailureOr<PixelBuffer> output =
      describe(epilogue.getDpsInits()[0], epilogue.getIndexingMapsArray().back(), *loops, ranges);
  if (failed(output) || output->k != 1 ||
      epilogue.payloadUsesValueFromOperand(epilogue.getDpsInitOperand(0)))
    return failure();
  addGroups(*output);
  contraction.output = *output;
  for (Operation &op : epilogue.getBody()->without_terminator())
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1)
      return failure();
  return success();
}

} // namespace convoy
