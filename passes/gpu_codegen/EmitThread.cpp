// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the code of one thread: the payload for each lane in the loops of the reduction, then the
// epilogue and the stores.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

SmallVector<Emitter::Lanes> Emitter::loadInputs(const Indices &indices,
                                                ArrayRef<int64_t> activeLanes) {
  SmallVector<Lanes> inputs;
  for (int64_t input = 0; input < plan.numInputs; ++input)
    inputs.push_back(plan.operands[input].isRead ? loadLanes(input, indices, activeLanes)
                                                 : Lanes(activeLanes.size(), Value()));
  return inputs;
}

Emitter::Lanes Emitter::reduceOne(ArrayRef<Lanes> inputs, ValueRange carried,
                                  const Indices &indices, ArrayRef<int64_t> activeLanes) {
  int64_t numOutputs = plan.numResults(), numLanes = activeLanes.size();
  SmallVector<Lanes> values(numLanes);
  for (int64_t l = 0; l < numLanes; ++l) {
    for (const Lanes &input : inputs)
      values[l].push_back(input[l]);
    for (int64_t output = 0; output < numOutputs; ++output)
      values[l].push_back(carried[output * numLanes + l]);
  }
  Lanes next(carried.size());
  for (auto [l, yielded] : llvm::enumerate(payloads(op, values, indices, activeLanes)))
    for (int64_t output = 0; output < numOutputs; ++output)
      next[output * numLanes + l] = yielded[output];
  return next;
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
  SmallVector<scf::ForOp> nest;
  OpBuilder::InsertionGuard guard(b);
  Lanes carried = current;
  indices.reduction.clear();
  for (const KernelLoop &loop : ArrayRef(plan.reduction).drop_back(plan.unrolled)) {
    auto loopOp =
        scf::ForOp::create(b, loc, constant(0), constant(loop.size), constant(1), carried);
    if (!nest.empty())
      scf::YieldOp::create(b, loc, loopOp.getResults());
    nest.push_back(loopOp);
    b.setInsertionPointToStart(loopOp.getBody());
    indices.reduction.push_back(loopOp.getInductionVar());
    carried.assign(loopOp.getRegionIterArgs().begin(), loopOp.getRegionIterArgs().end());
  }
  SmallVector<Value> rolled(indices.reduction);
  Lanes result = carried;
  for (auto [number, iterations] : llvm::enumerate(plan.turns())) {
    indices.reduction = rolled;
    for (int64_t i : iterations)
      indices.reduction.push_back(constant(i));
    turn = iterations;
    if (number == 0)
      startRuns(indices);
    result = reduceOne(loadInputs(indices, activeLanes), result, indices, activeLanes);
  }
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
  SmallVector<Lanes> values(activeLanes.size());
  for (auto [i, arguments] : llvm::enumerate(values)) {
    for (const Lanes &input : inputs)
      arguments.push_back(input[i]);
    arguments.push_back(Value()); // the output's initial value, which is not read
  }
  Lanes outputs;
  for (const Lanes &yielded : payloads(epilogue, values, indices, activeLanes))
    outputs.push_back(yielded[0]);
  return outputs;
}

/// Computes all iterations of the repeated loops before the first store, so that they share loads.
void Emitter::emitRepeated(Value thread) {
  Indices indices;
  indices.parallel = delinearize(thread, plan.loopsOverThreads(), plan.lanes);
  SmallVector<int64_t> lanes = allLanes();
  auto enter = [&](int64_t iteration) {
    for (unsigned loop : plan.repeated) {
      indices.parallel[loop] = constant(iteration % plan.parallel[loop].size);
      iteration /= plan.parallel[loop].size;
    }
  };
  SmallVector<Lanes> computed;
  for (int64_t i = 0, repeats = plan.repeats(); i < repeats; ++i) {
    enter(i);
    computed.push_back(computeOutputs(indices, lanes));
  }
  for (auto [i, values] : llvm::enumerate(computed)) {
    enter(i);
    for (int64_t output = 0; output < plan.numResults(); ++output)
      storeLanes(plan.firstOutput + output, indices,
                 ArrayRef(values).slice(output * plan.lanes, plan.lanes));
  }
}

void Emitter::emitThread(Value thread) {
  if (!plan.repeated.empty())
    return emitRepeated(thread);
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
