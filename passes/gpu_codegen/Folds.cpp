// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/gpu_codegen/Folds.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::gpu_codegen;

namespace {

/// Whether `op` may touch the bytes of `range`.
bool touches(Operation *op, const ByteRange &range) {
  if (isMemoryEffectFree(op) || isa<ViewLikeOpInterface>(op))
    return false;
  return llvm::any_of(memrefsOf(op), [&](Value memref) {
    FailureOr<Buffer> buffer = traceBuffer(memref);
    return failed(buffer) || bytesOf(*buffer).overlaps(range);
  });
}

/// The last fill before `op` that writes `range`, when nothing between them touches it.
linalg::FillOp findFill(Operation *op, const ByteRange &range) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (touches(before, range))
      return dyn_cast<linalg::FillOp>(before);
  return nullptr;
}

/// Whether anything but output `number` of `op` touches `range`.
bool usesElsewhere(linalg::LinalgOp op, unsigned number, const ByteRange &range) {
  Value output = op.getDpsInits()[number];
  int64_t seen = 0;
  return llvm::any_of(memrefsOf(op), [&](Value memref) {
    if (memref == output)
      return ++seen > 1;
    FailureOr<Buffer> buffer = traceBuffer(memref);
    return failed(buffer) || bytesOf(*buffer).overlaps(range);
  });
}

/// The box that `fill` makes around the result of `op`, which writes a part of the filled memref.
std::optional<Padding> matchPadding(linalg::LinalgOp op, linalg::FillOp fill) {
  auto part = op.getDpsInits()[0].getDefiningOp<memref::SubViewOp>();
  auto whole = dyn_cast<MemRefType>(fill.getOutputs()[0].getType());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!part || part.getSource() != fill.getOutputs()[0] ||
      part.getSourceType().getRank() != part.getType().getRank() || !map.isPermutation() ||
      !whole.getLayout().isIdentity() || op.getNumReductionLoops() != 0 ||
      !llvm::all_of(part.getStaticStrides(), [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  Padding padding;
  padding.value = fill.getInputs()[0];
  padding.sizes.resize(map.getNumDims());
  padding.lows.resize(map.getNumDims());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    padding.sizes[dim] = whole.getDimSize(i);
    padding.lows[dim] = part.getStaticOffsets()[i];
  }
  return padding;
}

} // namespace

Absorbed convoy::gpu_codegen::absorbFills(linalg::LinalgOp op) {
  Absorbed result;
  result.inits.resize(op.getNumDpsInits());
  if (isa<linalg::FillOp>(op.getOperation()))
    return result;
  for (auto [number, output] : llvm::enumerate(op.getDpsInits())) {
    FailureOr<Buffer> buffer = traceBuffer(output);
    if (failed(buffer))
      continue;
    linalg::FillOp fill = findFill(op, bytesOf(*buffer));
    if (!fill || !isConstant(fill.getInputs()[0]))
      continue;
    Value filled = fill.getOutputs()[0];
    FailureOr<Buffer> whole = traceBuffer(filled);
    if (failed(whole) || usesElsewhere(op, number, bytesOf(*whole)))
      continue;
    if (filled == output) {
      result.inits[number] = fill.getInputs()[0];
      result.fills.push_back(fill);
      continue;
    }
    // The rest of the filled memref must still be what the fill left there.
    if (op.getNumDpsInits() != 1 || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
        findFill(op, bytesOf(*whole)) != fill)
      continue;
    if ((result.padding = matchPadding(op, fill)))
      result.fills.push_back(fill);
  }
  return result;
}
