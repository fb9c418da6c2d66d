// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the code of one thread: the payload for each lane in the loops of the reduction, then the
// epilogue and the stores.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

llvm::MaybeAlign Emitter::gatherAlignment(memref::LoadOp load, const Buffer &buffer) {
  if (plan.lanes == 1 || !llvm::isPowerOf2_64(plan.lanes) || plan.parallel.back().low != 0 ||
      buffer.strides.empty() || buffer.strides.back() != 1 || buffer.offset % plan.lanes != 0)
    return {};
  auto last = load.getIndices().back().getDefiningOp<linalg::IndexOp>();
  int64_t alignment = vectorAlignment(buffer.type.getElementType(), plan.lanes);
  if (!last || last.getDim() != plan.parallel.back().dim || !isRootAligned(buffer, alignment) ||
      buffer.type.getElementType().isInteger(1) ||
      llvm::any_of(ArrayRef(buffer.strides).drop_back(),
                   [&](int64_t stride) { return stride % plan.lanes != 0; }))
    return {};
  return llvm::MaybeAlign(alignment);
}

void Emitter::clone(Operation &from, IRMapping &mapping, ArrayRef<Value> dims, int64_t lane) {
  // The constants of nested blocks are cloned before these blocks, because ops after them may use
  // the same ones.
  from.walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!mapping.contains(value) && isConstant(value) && !from.isAncestor(value.getDefiningOp()))
        mapping.map(value, cloneConstant(value));
  });
  if (auto index = dyn_cast<linalg::IndexOp>(from)) {
    mapping.map(index.getResult(), dims[index.getDim()]);
    return;
  }
  auto load = dyn_cast<memref::LoadOp>(from);
  if (load && captured.contains(load.getMemRef())) {
    const Buffer &buffer = captured[load.getMemRef()];
    Value where = constant(buffer.offset);
    for (auto [index, stride] : llvm::zip_equal(load.getIndices(), buffer.strides))
      where = add(where, mul(mapping.lookup(index), stride));
    // LLVM merges the lanes' loads if the first one is known to be aligned.
    mapping.map(load.getResult(),
                Value(memref::LoadOp::create(
                    b, from.getLoc(), argumentOf(buffer), where, /*nontemporal=*/false,
                    lane == 0 ? gatherAlignment(load, buffer) : llvm::MaybeAlign())));
    return;
  }
  if (from.getNumRegions() == 0) {
    b.clone(from, mapping);
    return;
  }
  // Clone nested blocks op by op, so that their loads and captured values are mapped too.
  Operation *copy = b.insert(from.cloneWithoutRegions(mapping));
  for (auto [region, to] : llvm::zip_equal(from.getRegions(), copy->getRegions())) {
    for (Block &block : region) {
      OpBuilder::InsertionGuard guard(b);
      Block *into = b.createBlock(&to, to.end(), block.getArgumentTypes(),
                                  SmallVector<Location>(block.getNumArguments(), loc));
      mapping.map(block.getArguments(), into->getArguments());
      for (Operation &inner : block)
        clone(inner, mapping, dims, lane);
    }
  }
}

Emitter::Lanes Emitter::payload(linalg::LinalgOp op, ArrayRef<Value> values, const Indices &indices,
                                int64_t lane) {
  IRMapping mapping;
  mapping.map(op.getBlock()->getArguments(), values);
  SmallVector<Value> dims;
  if (op.hasIndexSemantics())
    dims = dimIndices(indices, lane);
  for (Operation &inner : op.getBlock()->without_terminator())
    clone(inner, mapping, dims, lane);
  Lanes yielded;
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    yielded.push_back(!mapping.contains(value) && isConstant(value) ? cloneConstant(value)
                                                                    : mapping.lookup(value));
  return yielded;
}

Emitter::Lanes Emitter::computeOutputs(const Indices &outer, ArrayRef<int64_t> activeLanes) {
  int64_t numInputs = plan.numInputs, numOutputs = plan.numResults(), numLanes = activeLanes.size();

  // The value of output o and lane l is at index o * numLanes + l.
  Lanes current;
  for (int64_t output = 0; output < numOutputs; ++output) {
    if (plan.inits[output])
      current.append(numLanes, cloneConstant(plan.inits[output]));
    else if (plan.operands[numInputs + output].isRead)
      current.append(loadLanes(numInputs + output, outer, activeLanes));
    else if (plan.reduction.empty())
      current.append(numLanes, Value());
    else
      current.append(
          numLanes,
          arith::ConstantOp::create(
              b, loc,
              b.getZeroAttr(plan.operands[numInputs + output].buffer->type.getElementType())));
  }

  Indices indices = outer;
  auto step = [&](ValueRange carried) {
    SmallVector<Lanes> inputs; // null if the payload does not read the operand
    for (int64_t input = 0; input < numInputs; ++input)
      inputs.push_back(plan.operands[input].isRead ? loadLanes(input, indices, activeLanes)
                                                   : Lanes(numLanes, Value()));
    Lanes next(carried.size());
    for (int64_t l = 0; l < numLanes; ++l) {
      SmallVector<Value> values;
      for (const Lanes &input : inputs)
        values.push_back(input[l]);
      for (int64_t output = 0; output < numOutputs; ++output)
        values.push_back(carried[output * numLanes + l]);
      Lanes yielded = payload(op, values, indices, activeLanes[l]);
      for (int64_t output = 0; output < numOutputs; ++output)
        next[output * numLanes + l] = yielded[output];
    }
    return next;
  };

  SmallVector<scf::ForOp> nest;
  OpBuilder::InsertionGuard guard(b);
  Lanes carried = current;
  indices.reduction.clear();
  for (const KernelLoop &loop : plan.reduction) {
    auto loopOp =
        scf::ForOp::create(b, loc, constant(0), constant(loop.size), constant(1), carried);
    if (!nest.empty())
      scf::YieldOp::create(b, loc, loopOp.getResults());
    nest.push_back(loopOp);
    b.setInsertionPointToStart(loopOp.getBody());
    indices.reduction.push_back(loopOp.getInductionVar());
    carried.assign(loopOp.getRegionIterArgs().begin(), loopOp.getRegionIterArgs().end());
  }
  Lanes result = step(carried);
  if (nest.empty())
    return result;
  scf::YieldOp::create(b, loc, result);
  return llvm::to_vector_of<Value>(nest.front().getResults());
}

Emitter::Lanes Emitter::applyEpilogue(ArrayRef<Value> results, const Indices &indices,
                                      ArrayRef<int64_t> activeLanes) {
  if (!plan.epilogue)
    return llvm::to_vector(results);
  linalg::LinalgOp epilogue = plan.epilogue;
  Value result = withoutUnitReshapes(op.getDpsInits()[0]);
  SmallVector<Lanes> inputs;
  int64_t number = plan.numInputs + 1;
  for (Value input : epilogue.getDpsInputs())
    inputs.push_back(withoutUnitReshapes(input) == result
                         ? llvm::to_vector(results)
                         : loadLanes(number++, indices, activeLanes));
  Lanes outputs;
  for (auto [i, lane] : llvm::enumerate(activeLanes)) {
    SmallVector<Value> values;
    for (const Lanes &input : inputs)
      values.push_back(input[i]);
    values.push_back(Value()); // the output's initial value, which is not read
    outputs.push_back(payload(epilogue, values, indices, lane)[0]);
  }
  return outputs;
}

void Emitter::emitThread(Value thread) {
  Indices indices;
  indices.parallel = delinearize(thread, plan.parallel, plan.lanes);
  int64_t numOutputs = plan.numResults();

  // For a padded innermost loop it is known at compile time which lanes are inside; the other loops
  // are checked at run time.
  SmallVector<int64_t> active;
  Value inside;
  for (auto [i, loop] : llvm::enumerate(plan.parallel)) {
    bool last = i + 1 == plan.parallel.size();
    if (loop.low != 0)
      indices.parallel[i] = arith::SubIOp::create(b, loc, indices.parallel[i], constant(loop.low));
    if (!loop.isPadded() || (last && plan.lanes == loop.size))
      continue;
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, indices.parallel[i],
                                       constant(loop.inner));
    inside = inside ? Value(arith::AndIOp::create(b, loc, inside, here)) : here;
  }
  for (int64_t lane = 0; lane < plan.lanes; ++lane) {
    const KernelLoop *last = plan.parallel.empty() ? nullptr : &plan.parallel.back();
    if (!last || !last->isPadded() || plan.lanes != last->size ||
        (lane >= last->low && lane < last->low + last->inner))
      active.push_back(lane);
  }

  Lanes computed;
  if (inside) {
    Value outside = cloneConstant(*plan.padding);
    auto guarded = scf::IfOp::create(
        b, loc, SmallVector<Type>(active.size() * numOutputs, outside.getType()), inside,
        /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.elseBlock());
    scf::YieldOp::create(b, loc, Lanes(active.size() * numOutputs, outside));
    b.setInsertionPointToStart(guarded.thenBlock());
    scf::YieldOp::create(b, loc, applyEpilogue(computeOutputs(indices, active), indices, active));
    computed.assign(guarded.result_begin(), guarded.result_end());
  } else {
    computed = applyEpilogue(computeOutputs(indices, active), indices, active);
  }

  for (int64_t output = 0; output < numOutputs; ++output) {
    Lanes values(plan.lanes);
    for (auto [i, lane] : llvm::enumerate(active))
      values[lane] = computed[output * active.size() + i];
    for (Value &value : values)
      if (!value)
        value = cloneConstant(*plan.padding);
    storeLanes(plan.firstOutput + output, indices, values);
  }
}

} // namespace convoy::gpu_codegen
