// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/Accesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op)) {
    SmallVector<Value> written;
    for (Block &block : region.getRegion())
      for (Operation &inner : block.without_terminator())
        llvm::append_range(written, memrefsWrittenBy(&inner));
    return written;
  }
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

static bool overlap(ArrayRef<FailureOr<ByteRange>> a, ArrayRef<FailureOr<ByteRange>> b) {
  return llvm::any_of(a, [&](const FailureOr<ByteRange> &x) {
    return llvm::any_of(b, [&](const FailureOr<ByteRange> &y) {
      return failed(x) || failed(y) || x->overlaps(*y);
    });
  });
}

bool Access::conflictsWith(const Access &other) const {
  return overlap(written, other.touched) || overlap(touched, other.written);
}

SmallVector<Access, 0> accessesOf(Block &block) {
  SmallVector<Access, 0> all;
  for (Operation &op : block) {
    if (isMemoryEffectFree(&op) || isa<memref::AllocOp, memref::DeallocOp>(op))
      continue;
    Access &access = all.emplace_back();
    access.op = &op;
    for (Value memref : memrefsOf(&op))
      access.touched.push_back(rangeOf(memref));
    for (Value memref : memrefsWrittenBy(&op))
      access.written.push_back(rangeOf(memref));
  }
  return all;
}

} // namespace convoy
