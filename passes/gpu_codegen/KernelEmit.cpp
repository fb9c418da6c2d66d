// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the function of a kernel: arguments, shared memory, and the kind of body.

#include "passes/gpu_codegen/KernelEmit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

void Emitter::shareMemory(SmallVectorImpl<Type> &shared) const {
  auto share = [&](ArrayRef<int64_t> shape, Type type) {
    shared.push_back(
        MemRefType::get(shape, type, MemRefLayoutAttrInterface(),
                        gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup)));
  };
  // One additional column, so that the elements of a column are in different banks.
  for (auto [number, operand] : llvm::enumerate(plan.operands))
    if (plan.isTransposed(number))
      share({plan.tile, plan.tile + 1}, operand.buffer->type.getElementType());
  if (int64_t warps = plan.rows ? plan.rows->warps() : 1; warps > 1)
    for (const RowOp &each : plan.rows->region.ops)
      if (each.combiner)
        share({warps * plan.rows->columns}, each.combiner->getResult(0).getType());
  for (Operation *combiner : plan.combiners) {
    Type type = combiner->getResult(0).getType();
    if (plan.columns)
      share({plan.reducers / plan.columnReducersOfWarp(), plan.columns * plan.lanes}, type);
    else if (plan.reducers > kWarpThreads)
      share({plan.reducers / kWarpThreads}, type);
  }
}

/// Sets which arguments no other pointer of the kernel overlaps. Allows non-coherent loads, and
/// moving loads across stores.
static void setNoAlias(gpu::GPUFuncOp func, ArrayRef<ByteRange> ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    bool shared = false;
    for (auto [j, other] : llvm::enumerate(ranges))
      shared |= i != j && ranges[i].overlaps(other);
    if (!shared)
      func.setArgAttr(i, "llvm.noalias", UnitAttr::get(func.getContext()));
  }
}

/// The data of a constant that is no scalar, as a global of the kernels' module.
static Value globalOf(Value root, OpBuilder &b, Location loc, gpu::GPUModuleOp module) {
  auto global = root.getDefiningOp<memref::GetGlobalOp>();
  if (!module.lookupSymbol(global.getName())) {
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    atStart.clone(*SymbolTable::lookupNearestSymbolFrom(global, global.getNameAttr()));
  }
  auto type = cast<MemRefType>(root.getType());
  Value data = b.clone(*global)->getResult(0);
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get({type.getNumElements()}, type.getElementType()), data,
      /*offset=*/0, ArrayRef<int64_t>{type.getNumElements()}, ArrayRef<int64_t>{1});
}

FailureOr<Kernel> Emitter::emit(ArrayRef<KernelMapping> plans, OpBuilder &b, StringRef name) {
  SmallVector<std::unique_ptr<Emitter>> bodies;
  SmallVector<Location> locations;
  SmallVector<Type> types, shared;
  SmallVector<ByteRange> ranges;
  llvm::SetVector<Value> roots, constants;
  for (const KernelMapping &plan : plans) {
    Emitter &body = *bodies.emplace_back(std::make_unique<Emitter>(plan, b));
    if (failed(body.collectArguments()))
      return failure();
    locations.push_back(body.loc);
    for (Value root : body.roots)
      (root.getDefiningOp<memref::GetGlobalOp>() ? constants : roots).insert(root);
  }
  for (Value root : roots) {
    auto type = cast<MemRefType>(root.getType());
    types.push_back(MemRefType::get({type.getNumElements()}, type.getElementType()));
    FailureOr<Buffer> buffer = traceBuffer(root);
    if (failed(buffer))
      return bodies.front()->op.emitOpError("expects views of static memrefs, but got a view of ")
             << type;
    ranges.push_back(bytesOf(*buffer));
  }
  SmallVector<size_t> sharedEnds;
  for (const auto &body : bodies) {
    body->shareMemory(shared);
    sharedEnds.push_back(shared.size());
  }

  OpBuilder::InsertionGuard guard(b);
  Location loc = locations.size() == 1 ? locations.front() : b.getFusedLoc(locations);
  auto func = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}), shared);
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  func.setKnownBlockSize(ArrayRef<int32_t>{int32_t(plans.front().blockThreads()), 1, 1});
  if (llvm::all_of(plans, [](const KernelMapping &plan) { return plan.runsInPairs(); }))
    func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(2));
  setNoAlias(func, ranges);

  b.setInsertionPointToStart(&func.getBody().front());
  llvm::DenseMap<Value, Value> arguments;
  for (auto [root, argument] : llvm::zip_equal(roots, func.getArguments().take_front(roots.size())))
    arguments[root] = argument;
  for (Value root : constants)
    arguments[root] = globalOf(root, b, loc, func->getParentOfType<gpu::GPUModuleOp>());
  ArrayRef<BlockArgument> staging = func.getWorkgroupAttributions();
  Kernel kernel{func, llvm::to_vector(roots), {}};
  for (auto [number, body] : llvm::enumerate(bodies)) {
    size_t first = number == 0 ? 0 : sharedEnds[number - 1];
    body->staging = llvm::to_vector(staging.slice(first, sharedEnds[number] - first));
    body->arguments = arguments;
    llvm::append_range(kernel.gathered, llvm::make_second_range(body->captured));
  }
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value own = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  emitBodies(bodies, /*first=*/0, block, own);
  gpu::ReturnOp::create(b, loc);
  return kernel;
}

void Emitter::emitBodies(ArrayRef<std::unique_ptr<Emitter>> bodies, int64_t first, Value block,
                         Value own) {
  Emitter &front = *bodies.front();
  if (bodies.size() == 1) {
    front.emitBody(first == 0 ? block : front.add(block, -first), own);
    return;
  }
  size_t half = bodies.size() / 2;
  int64_t middle = first;
  for (const auto &body : bodies.take_front(half))
    middle += body->plan.blocks();
  OpBuilder &b = front.b;
  Value isBefore =
      arith::CmpIOp::create(b, front.loc, arith::CmpIPredicate::ult, block, front.constant(middle));
  auto branch = scf::IfOp::create(b, front.loc, isBefore, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitBodies(bodies.take_front(half), first, block, own);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitBodies(bodies.drop_front(half), middle, block, own);
}

void Emitter::emitBody(Value block, Value own) {
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
}

int64_t sharedBytes(const KernelMapping &plan, OpBuilder &builder) {
  SmallVector<Type> shared;
  Emitter(plan, builder).shareMemory(shared);
  int64_t bytes = 0;
  for (Type type : shared)
    bytes += packedBytes(cast<MemRefType>(type));
  return bytes;
}

FailureOr<Kernel> emitKernel(ArrayRef<KernelMapping> plans, OpBuilder &builder, StringRef name) {
  return Emitter::emit(plans, builder, name);
}

} // namespace convoy::gpu_codegen
