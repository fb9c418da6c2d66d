// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits copies of an op's payload, one for each lane of a thread.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// `index` without constant multiples of `lanes` that are added or subtracted.
static Value withoutMultiple(Value index, int64_t lanes) {
  IntegerAttr start;
  Operation *shift = index.getDefiningOp();
  while (isa_and_present<arith::AddIOp, arith::SubIOp>(shift) &&
         matchPattern(shift->getOperand(1), m_Constant(&start)) && start.getInt() % lanes == 0) {
    index = shift->getOperand(0);
    shift = index.getDefiningOp();
  }
  return index;
}

bool Emitter::isSameForLanes(Value value) {
  const KernelLoop &last = plan.parallel.back();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // The initial value of a result, or the sum so far, varies.
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != op.getBlock() || int64_t(number) >= plan.numInputs)
      return false;
    const KernelOperand &operand = plan.operands[number];
    return !operand.buffer || (operand.isLinear && last.steps[number] == 0 &&
                               plan.laneOffset(number, plan.lanes - 1) == 0);
  }
  Operation *from = value.getDefiningOp();
  if (auto own = dyn_cast<linalg::IndexOp>(from))
    return own.getDim() != last.dim;
  if (auto load = dyn_cast<memref::LoadOp>(from))
    return llvm::all_of(load.getIndices(), [&](Value index) { return isSameForLanes(index); });
  return isa<arith::ConstantOp>(from) ||
         (isa<arith::ArithDialect>(from->getDialect()) && from->getNumRegions() == 0 &&
          llvm::all_of(from->getOperands(),
                       [&](Value operand) { return isSameForLanes(operand); }));
}

llvm::MaybeAlign Emitter::gatherAlignment(memref::LoadOp load, const Buffer &buffer) {
  if (plan.lanes == 1 || !llvm::isPowerOf2_64(plan.lanes) || plan.parallel.back().low != 0 ||
      buffer.strides.empty() || buffer.strides.back() != 1 || buffer.offset % plan.lanes != 0)
    return {};
  Value innermost = withoutMultiple(load.getIndices().back(), plan.lanes);
  auto last = innermost.getDefiningOp<linalg::IndexOp>();
  int64_t alignment = vectorAlignment(buffer.type.getElementType(), plan.lanes);
  if (!last || last.getDim() != plan.parallel.back().dim || !isRootAligned(buffer, alignment) ||
      buffer.type.getElementType().isInteger(1) ||
      llvm::any_of(ArrayRef(buffer.strides).drop_back(),
                   [&](int64_t stride) { return stride % plan.lanes != 0; }))
    return {};
  return llvm::MaybeAlign(alignment);
}

Value Emitter::address(memref::LoadOp load, const Buffer &buffer, const IRMapping &mapping) {
  Value where = constant(buffer.offset);
  for (auto [index, stride] : llvm::zip_equal(load.getIndices(), buffer.strides))
    where = add(where, mul(mapping.lookup(index), stride));
  return where;
}

void Emitter::cloneConstants(Operation &from, IRMapping &mapping) {
  from.walk([&](Operation *inner) {
    for (Value value : inner->getOperands())
      if (!mapping.contains(value) && isConstant(value) && !from.isAncestor(value.getDefiningOp()))
        mapping.map(value, cloneConstant(value));
  });
}

Value Emitter::quotient(Value dividend, int64_t divisor) {
  auto constantOf = [](Value value) -> std::optional<int64_t> {
    IntegerAttr number;
    return matchPattern(value, m_Constant(&number)) ? std::optional(number.getInt()) : std::nullopt;
  };
  int64_t rest = 0;
  while (auto sum = dividend.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> added = constantOf(sum.getRhs());
    if (!added || *added < 0)
      break;
    rest += *added;
    dividend = sum.getLhs();
  }
  if (std::optional<int64_t> whole = constantOf(dividend))
    return constant((*whole + rest) / divisor);
  auto product = dividend.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor = product ? constantOf(product.getRhs()) : std::nullopt;
  if (factor && *factor > 0 && *factor % divisor == 0)
    return add(mul(product.getLhs(), *factor / divisor), rest / divisor);
  if (!factor || *factor <= 0 || divisor % *factor != 0)
    return Value();
  return arith::DivUIOp::create(b, loc, add(product.getLhs(), rest / *factor),
                                constant(divisor / *factor));
}

void Emitter::clone(Operation &from, IRMapping &mapping, ArrayRef<Value> dims, int64_t lane) {
  cloneConstants(from, mapping);
  if (auto index = dyn_cast<linalg::IndexOp>(from)) {
    mapping.map(index.getResult(), dims[index.getDim()]);
    return;
  }
  IntegerAttr divisor;
  if (auto division = dyn_cast<arith::DivUIOp>(from);
      division && division.getType().isIndex() &&
      matchPattern(division.getRhs(), m_Constant(&divisor)))
    if (Value known = quotient(mapping.lookup(division.getLhs()), divisor.getInt())) {
      mapping.map(division.getResult(), known);
      return;
    }
  auto load = dyn_cast<memref::LoadOp>(from);
  if (const RunLoad *run = load ? runOf(load) : nullptr) {
    mapping.map(load.getResult(), loadOfRun(*run, mapping, lane));
    return;
  }
  if (load && captured.contains(load.getMemRef())) {
    const Buffer &buffer = captured[load.getMemRef()];
    Value where = address(load, buffer, mapping);
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

bool Emitter::isSameForLanes(scf::IfOp branch) {
  if (plan.parallel.empty())
    return false;
  const KernelLoop &last = plan.parallel.back();
  if (isSameForLanes(branch.getCondition()))
    return true;
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto index = compare ? compare.getLhs().getDefiningOp<linalg::IndexOp>() : nullptr;
  IntegerAttr bound;
  return index && compare.getPredicate() == arith::CmpIPredicate::ult &&
         matchPattern(compare.getRhs(), m_Constant(&bound)) && last.low % plan.lanes == 0 &&
         bound.getInt() % plan.lanes == 0;
}

llvm::MaybeAlign Emitter::lanesAlignment(memref::LoadOp load, int64_t lanes) {
  auto buffer = captured.find(load.getMemRef());
  auto isSame = [&](Value index) { return isSameForLanes(index); };
  if (buffer == captured.end() || runOf(load) || lanes != plan.lanes || plan.parallel.empty() ||
      !llvm::all_of(load.getIndices().drop_back(), isSame))
    return {};
  return gatherAlignment(load, buffer->second);
}

bool Emitter::loadLanes(memref::LoadOp load, MutableArrayRef<LaneMapping> lanes) {
  llvm::MaybeAlign alignment = lanesAlignment(load, lanes.size());
  if (!alignment)
    return false;
  const Buffer &buffer = captured[load.getMemRef()];
  cloneConstants(*load, lanes.front().mapping);
  Lanes values =
      loadVector(buffer, address(load, buffer, lanes.front().mapping), plan.lanes, alignment);
  for (auto [lane, value] : llvm::zip_equal(lanes, values))
    lane.mapping.map(load.getResult(), value);
  return true;
}

void Emitter::cloneLanes(Operation &from, MutableArrayRef<LaneMapping> lanes) {
  if (auto load = dyn_cast<memref::LoadOp>(from); load && loadLanes(load, lanes))
    return;
  auto branch = dyn_cast<scf::IfOp>(from);
  if (!branch || !isSameForLanes(branch)) {
    for (LaneMapping &lane : lanes)
      clone(from, lane.mapping, lane.dims, lane.number);
    return;
  }
  SmallVector<Type> types;
  for (LaneMapping &lane : lanes) {
    cloneConstants(from, lane.mapping);
    llvm::append_range(types, branch.getResultTypes());
  }
  auto copy = scf::IfOp::create(b, from.getLoc(), types,
                                lanes.front().mapping.lookup(branch.getCondition()),
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (auto [region, to] : llvm::zip_equal(branch->getRegions(), copy->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&to.front());
    Block &block = region.front();
    for (Operation &inner : block.without_terminator())
      cloneLanes(inner, lanes);
    Lanes yielded;
    for (LaneMapping &lane : lanes)
      for (Value value : block.getTerminator()->getOperands())
        yielded.push_back(lane.mapping.lookup(value));
    scf::YieldOp::create(b, from.getLoc(), yielded);
  }
  int64_t number = branch.getNumResults();
  for (auto [i, lane] : llvm::enumerate(lanes))
    lane.mapping.map(branch.getResults(), copy.getResults().slice(i * number, number));
}

SmallVector<Emitter::Lanes> Emitter::payloads(linalg::LinalgOp op, ArrayRef<Lanes> values,
                                              const Indices &indices,
                                              ArrayRef<int64_t> activeLanes) {
  SmallVector<LaneMapping> lanes;
  for (auto [number, arguments] : llvm::zip_equal(activeLanes, values)) {
    LaneMapping &lane = lanes.emplace_back();
    lane.number = number;
    lane.mapping.map(op.getBlock()->getArguments(), arguments);
    if (op.hasIndexSemantics())
      lane.dims = dimIndices(indices, number);
  }
  auto body = op.getBlock()->without_terminator();
  bool together = llvm::any_of(body, [&](Operation &inner) {
    if (auto load = dyn_cast<memref::LoadOp>(inner))
      return lanesAlignment(load, lanes.size()).has_value();
    auto branch = dyn_cast<scf::IfOp>(inner);
    return branch && isSameForLanes(branch);
  });
  if (together) {
    for (Operation &inner : body)
      cloneLanes(inner, lanes);
  } else {
    for (LaneMapping &lane : lanes)
      for (Operation &inner : body)
        clone(inner, lane.mapping, lane.dims, lane.number);
  }
  SmallVector<Lanes> results;
  for (LaneMapping &lane : lanes) {
    Lanes &yielded = results.emplace_back();
    for (Value value : op.getBlock()->getTerminator()->getOperands())
      yielded.push_back(!lane.mapping.contains(value) && isConstant(value)
                            ? cloneConstant(value)
                            : lane.mapping.lookup(value));
  }
  return results;
}

Emitter::Lanes Emitter::payload(linalg::LinalgOp op, ArrayRef<Value> values, const Indices &indices,
                                int64_t lane) {
  return payloads(op, {llvm::to_vector(values)}, indices, {lane}).front();
}

} // namespace convoy::gpu_codegen
