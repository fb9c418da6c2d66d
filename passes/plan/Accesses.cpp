// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/Accesses.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace convoy {

FailureOr<ByteRange> rangeOf(Value memref) {
  // A slice at the step of a loop is anywhere in its source.
  while (failed(traceBuffer(memref))) {
    auto slice = memref.getDefiningOp<ViewLikeOpInterface>();
    if (!slice)
      return failure();
    memref = slice.getViewSource();
  }
  FailureOr<Buffer> buffer = traceBuffer(memref);
  if (failed(buffer) || buffer->root.getDefiningOp<ViewLikeOpInterface>())
    return failure();
  return bytesOf(*buffer);
}

SmallVector<Value> memrefsWrittenBy(Operation *op) {
  if (isMemoryEffectFree(op))
    return {};
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return memrefsOf(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  SmallVector<Value> written;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (!isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()))
      continue;
    if (!effect.getValue())
      return memrefsOf(op);
    written.push_back(effect.getValue());
  }
  return written;
}

} // namespace convoy
