// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the function of a kernel: arguments, shared memory, and the kind of body.

#include "passes/gpu_codegen/KernelEmit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

LogicalResult Emitter::collectArguments() {
  for (auto [number, operand] : llvm::enumerate(plan.operands)) {
    bool inRegisters = plan.epilogue && int64_t(number) == plan.numInputs;
    if (operand.buffer)
      roots.insert(operand.buffer->root);
    else if (!inRegisters && !isConstant(operand.value))
      return op->emitOpError(
                 "expects scalar operands of a kernel to be constants, but got a value of type ")
             << operand.value.getType();
  }
  Region &region = op->getRegion(0);
  WalkResult result = region.walk([&](Operation *inner) {
    for (Value value : inner->getOperands()) {
      if (region.isAncestor(value.getParentRegion()) || isConstant(value))
        continue;
      FailureOr<Buffer> buffer = failure();
      if (isa<memref::LoadOp>(inner) && isa<MemRefType>(value.getType()))
        buffer = traceBuffer(value);
      if (failed(buffer)) {
        inner->emitOpError(
            "expects constants and loads of static memrefs in a kernel, but got a value of type ")
            << value.getType();
        return WalkResult::interrupt();
      }
      captured[value] = *buffer;
      roots.insert(buffer->root);
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<Kernel> Emitter::emit(StringRef name) {
  if (failed(collectArguments()))
    return failure();
  // Non-scalar constants become globals of the kernels' module, not arguments.
  llvm::SetVector<Value> constants;
  for (Value root : roots)
    if (root.getDefiningOp<memref::GetGlobalOp>())
      constants.insert(root);
  roots.set_subtract(constants);

  SmallVector<Type> types;
  SmallVector<ByteRange> ranges;
  for (Value root : roots) {
    auto type = cast<MemRefType>(root.getType());
    types.push_back(MemRefType::get({type.getNumElements()}, type.getElementType()));
    FailureOr<Buffer> buffer = traceBuffer(root);
    if (failed(buffer))
      return op->emitOpError("expects views of static memrefs, but got a view of ") << type;
    ranges.push_back(bytesOf(*buffer));
  }

  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> shared;
  auto share = [&](ArrayRef<int64_t> shape, Type type) {
    shared.push_back(
        MemRefType::get(shape, type, MemRefLayoutAttrInterface(),
                        gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup)));
  };
  // One additional column, so that the elements of a column are in different banks.
  for (auto [number, operand] : llvm::enumerate(plan.operands))
    if (plan.isTransposed(number))
      share({plan.tile, plan.tile + 1}, operand.buffer->type.getElementType());
  if (plan.rows && plan.rows->sharers > kWarpThreads)
    for (const RowOp &each : plan.rows->region.ops)
      if (each.combiner)
        share({plan.rows->sharers / kWarpThreads}, each.combiner->getResult(0).getType());
  for (Operation *combiner : plan.combiners) {
    Type type = combiner->getResult(0).getType();
    if (plan.columns)
      share({plan.reducers / plan.columnReducersOfWarp(), plan.columns}, type);
    else if (plan.reducers > kWarpThreads)
      share({plan.reducers / kWarpThreads}, type);
  }
  auto func = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}), shared);
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSize(ArrayRef<int32_t>{int32_t(plan.blockThreads()), 1, 1});
  for (auto [i, root] : llvm::enumerate(roots)) {
    arguments[root] = func.getArgument(i);
    // Allows non-coherent loads, and moving loads across stores.
    bool shared = false;
    for (auto [j, other] : llvm::enumerate(ranges))
      shared |= i != j && ranges[i].overlaps(other);
    if (!shared)
      func.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
  }

  b.setInsertionPointToStart(&func.getBody().front());
  staging = llvm::to_vector(func.getWorkgroupAttributions());
  for (Value root : constants) {
    auto global = root.getDefiningOp<memref::GetGlobalOp>();
    auto module = func->getParentOfType<gpu::GPUModuleOp>();
    if (!module.lookupSymbol(global.getName())) {
      OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
      atStart.clone(*SymbolTable::lookupNearestSymbolFrom(global, global.getNameAttr()));
    }
    auto type = cast<MemRefType>(root.getType());
    Value data = b.clone(*global)->getResult(0);
    arguments[root] = memref::ReinterpretCastOp::create(
        b, loc, MemRefType::get({type.getNumElements()}, type.getElementType()), data,
        /*offset=*/0, ArrayRef<int64_t>{type.getNumElements()}, ArrayRef<int64_t>{1});
  }
  emitBody();
  return Kernel{func, llvm::to_vector(roots), llvm::to_vector(llvm::make_second_range(captured))};
}

void Emitter::emitBody() {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value own = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = add(mul(block, plan.blockThreads()), own);
  if (plan.rows) {
    emitRows(thread);
  } else if (plan.tile) {
    emitTiles(block, own);
  } else if (plan.columns) {
    emitColumnReduction(block, own);
  } else if (!plan.combiners.empty()) {
    emitRowReduction(thread);
  } else if (plan.threads() % kBlockThreads != 0) {
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread, constant(plan.threads()));
    auto guarded = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(guarded.thenBlock()->getTerminator());
    emitThread(thread);
  } else {
    emitThread(thread);
  }
  gpu::ReturnOp::create(b, loc);
}

FailureOr<Kernel> emitKernel(const KernelMapping &plan, OpBuilder &builder, StringRef name) {
  return Emitter(plan, builder).emit(name);
}

} // namespace convoy::gpu_codegen
