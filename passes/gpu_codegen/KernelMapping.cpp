// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/gpu_codegen/KernelMapping.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/Cumulative.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// A short name for `op` in the names of kernels; empty for constants and index arithmetic.
static StringRef shortName(Operation &op) {
  StringRef name = op.getName().stripDialect();
  // Index computations have no name.
  auto isIndex = [](Value value) { return value.getType().isIndex(); };
  if (isa<arith::ConstantOp>(op) || op.getNumResults() == 0 ||
      llvm::any_of(op.getResults(), isIndex) || op.getResult(0).getType().isInteger(1))
    return "";
  if (isa<memref::LoadOp>(op))
    return "gather";
  if (isa<scf::IfOp>(op))
    return "concat";
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
          arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return "cast";
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return "max";
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return "min";
  return isa<arith::ArithDialect>(op.getDialect()) ? name.rtrim("fi") : name;
}

static unsigned elementBits(linalg::LinalgOp op) {
  return getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth();
}

std::string describe(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op.getOperation()))
    return op->getName().stripDialect().str();
  SmallVector<std::string> parts;
  bool transposes = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return map.isPermutation() && !map.isIdentity();
  });
  if (transposes)
    parts.push_back("transpose");
  if (op.getNumReductionLoops() != 0)
    parts.push_back(cumulativeCombiner(op) ? "cumulative" : "reduce");
  for (Operation &inner : *op.getBlock()) {
    std::string part = inner.hasTrait<OpTrait::IsTerminator>() ? "" : shortName(inner).str();
    if (!part.empty() && !llvm::is_contained(parts, part))
      parts.push_back(part);
  }
  if (parts.empty())
    parts.push_back(op.getNumDpsInputs() == 0 ? "fill" : elementBits(op) == 1 ? "compare" : "copy");
  constexpr size_t kMostParts = 4;
  parts.resize(std::min(parts.size(), kMostParts));
  return llvm::join(parts, "_");
}

/// Whether two loops can be merged: for every address the outer step continues the inner loop.
static bool areMergeable(const KernelLoop &outer, const KernelLoop &inner) {
  if (outer.isPadded() || inner.isPadded())
    return false;
  return llvm::all_of(llvm::zip_equal(outer.steps, inner.steps), [&](auto steps) {
    return std::get<0>(steps) == std::get<1>(steps) * inner.size;
  });
}

static void merge(SmallVectorImpl<KernelLoop> &loops) {
  SmallVector<KernelLoop> merged;
  for (KernelLoop &loop : loops) {
    if (!merged.empty() && areMergeable(merged.back(), loop)) {
      loop.size *= merged.back().size;
      loop.inner = loop.size;
      merged.pop_back();
    }
    merged.push_back(loop);
  }
  loops = std::move(merged);
}

/// Describes one operand whose map is `map`, over the loops of `op`.
static LogicalResult addOperand(KernelMapping &plan, SmallVectorImpl<KernelLoop> &loops,
                                OpOperand &opOperand, AffineMap map) {
  auto op = cast<linalg::LinalgOp>(opOperand.getOwner());
  KernelOperand &operand = plan.operands.emplace_back();
  operand.value = opOperand.get();
  operand.isRead = op.payloadUsesValueFromOperand(&opOperand);
  SmallVector<int64_t> steps(loops.size(), 0);
  if (isa<BaseMemRefType>(operand.value.getType())) {
    FailureOr<Buffer> buffer = traceBuffer(operand.value);
    if (failed(buffer))
      return op.emitOpError("expects operand ")
             << opOperand.getOperandNumber()
             << " to have a static shape and strided layout to become a kernel, but got "
             << operand.value.getType();
    operand.buffer = *buffer;
    operand.address = getAffineConstantExpr(buffer->offset, op.getContext());
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), buffer->strides))
      operand.address = operand.address + expr * stride;
    // An operand that is not read does not prevent merging loops.
    if (operand.isRead || op.isDpsInit(&opOperand))
      operand.isLinear = addLinear(operand.address, 1, steps, operand.start);
  } else if (isa<TensorType>(operand.value.getType())) {
    return op.emitOpError("expects memrefs to become a kernel, but got operand ")
           << opOperand.getOperandNumber() << " of type " << operand.value.getType();
  }
  for (auto [loop, step] : llvm::zip_equal(loops, steps))
    loop.steps.push_back(step);
  return success();
}

/// Describes the epilogue's operands in terms of the loops of the preceding op.
static LogicalResult addEpilogue(KernelMapping &plan, SmallVectorImpl<KernelLoop> &loops) {
  linalg::LinalgOp op = plan.op, epilogue = plan.epilogue;
  OpOperand *result = op.getDpsInitOperand(0);
  // The result stays in registers, so its address does not prevent merging loops.
  plan.operands.back().buffer.reset();
  for (KernelLoop &loop : loops)
    loop.steps.back() = 0;
  OpOperand *read = *llvm::find_if(epilogue.getDpsInputOperands(), [&](OpOperand *input) {
    return withoutUnitReshapes(input->get()) == withoutUnitReshapes(result->get());
  });
  AffineMap written = op.getMatchingIndexingMap(result),
            toResult = epilogue.getMatchingIndexingMap(read);
  // Map the epilogue's loops to the op's: except for dims of size 1, its operand has the dims of
  // the result, in order.
  SmallVector<AffineExpr> exprs(epilogue.getNumLoops(), getAffineConstantExpr(0, op.getContext())),
      results;
  for (auto [expr, size] :
       llvm::zip_equal(written.getResults(), cast<MemRefType>(result->get().getType()).getShape()))
    if (size != 1)
      results.push_back(expr);
  ArrayRef<AffineExpr> next = results;
  for (auto [expr, size] :
       llvm::zip_equal(toResult.getResults(), cast<MemRefType>(read->get().getType()).getShape()))
    if (size != 1) {
      exprs[cast<AffineDimExpr>(expr).getPosition()] = next.front();
      next = next.drop_front();
    }
  AffineMap toLoops = AffineMap::get(written.getNumDims(), 0, exprs, op.getContext());
  for (OpOperand &operand : epilogue->getOpOperands())
    if (&operand != read &&
        failed(addOperand(plan, loops, operand,
                          epilogue.getMatchingIndexingMap(&operand).compose(toLoops))))
      return failure();
  plan.firstOutput = plan.operands.size() - 1;
  return success();
}

FailureOr<KernelMapping> chooseMapping(linalg::LinalgOp op, ArrayRef<Value> inits,
                                       const Padding *padding, linalg::LinalgOp epilogue) {
  KernelMapping plan;
  plan.op = op;
  plan.epilogue = epilogue;
  plan.name = epilogue ? describe(op) + "_" + describe(epilogue) : describe(op);
  plan.numInputs = plan.firstOutput = op.getNumDpsInputs();
  plan.inits = llvm::to_vector(inits);
  if (padding)
    plan.padding = padding->value;

  unsigned numLoops = op.getNumLoops();
  SmallVector<KernelLoop> loops(numLoops);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes))
    return op.emitOpError("expects static shapes to become a kernel");
  for (OpOperand &init : op.getDpsInitsMutable())
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (kind != utils::IteratorType::parallel &&
          op.getMatchingIndexingMap(&init).isFunctionOfDim(dim))
        return op.emitOpError("expects results that do not vary along reduced dims to become a "
                              "kernel, but a result varies along dim ")
               << dim;
  for (OpOperand &operand : op->getOpOperands())
    if (failed(addOperand(plan, loops, operand, op.getMatchingIndexingMap(&operand))))
      return failure();
  if (epilogue && failed(addEpilogue(plan, loops)))
    return failure();

  for (auto [dim, loop] : llvm::enumerate(loops)) {
    loop.dim = dim;
    loop.inner = loop.size = sizes[dim];
    if (padding) {
      loop.size = padding->sizes[dim];
      loop.low = padding->lows[dim];
    }
    if (op.getIteratorTypesArray()[dim] == utils::IteratorType::parallel)
      plan.parallel.push_back(loop);
    else
      plan.reduction.push_back(loop);
  }
  int64_t output = plan.firstOutput;
  llvm::sort(plan.parallel, [&](const KernelLoop &a, const KernelLoop &b) {
    return std::pair(-a.steps[output], a.dim) < std::pair(-b.steps[output], b.dim);
  });

  // Loops of one iteration need no index, and merged loops no division, unless the op's indices are
  // used.
  bool isLinear =
      llvm::all_of(plan.operands, [](const KernelOperand &operand) { return operand.isLinear; });
  bool needsIndices = op.hasIndexSemantics() || !isLinear;
  if (!needsIndices) {
    for (SmallVectorImpl<KernelLoop> *list : {&plan.parallel, &plan.reduction}) {
      llvm::erase_if(*list,
                     [](const KernelLoop &loop) { return loop.size == 1 && !loop.isPadded(); });
      merge(*list);
    }
  }
  spreadOverThreads(plan, /*mayShare=*/!padding && isLinear,
                    /*mayMove=*/!padding && !needsIndices);
  return plan;
}

} // namespace convoy::gpu_codegen
