// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/Outline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace convoy {

/// The offset of a memref that becomes an argument, so that equal loops over slices of buffers, as
/// those that write into a concat, share a function: the offset of the type, unless it is 0 or an
/// op of `loop` has a result whose type depends on it.
static std::optional<int64_t> offsetArgument(Value value, Operation *loop) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  auto [strides, offset] = type.getStridesAndOffset();
  bool accesses = llvm::all_of(value.getUsers(), [&](Operation *user) {
    return !loop->isProperAncestor(user) ||
           isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
               vector::MaskedLoadOp, vector::MaskedStoreOp>(user);
  });
  if (offset == 0 || ShapedType::isDynamic(offset) || !ShapedType::isStaticShape(strides) ||
      !accesses)
    return std::nullopt;
  return offset;
}

/// `value` with another offset from the start of its buffer.
static Value withOffset(OpBuilder &builder, Location loc, Value value, OpFoldResult offset) {
  auto type = cast<MemRefType>(value.getType());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  int64_t number = getConstantIntValue(offset).value_or(ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(builder.getContext(), number, strides);
  return memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace()), value,
      offset, getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
      getAsIndexOpFoldResult(builder.getContext(), strides));
}

func::FuncOp LoopOutliner::share(func::FuncOp body) {
  for (func::FuncOp other : bodies)
    if (other.getFunctionType() == body.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &body.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      body.erase();
      return other;
    }
  symbols.insert(body);
  bodies.push_back(body);
  return body;
}

func::CallOp
LoopOutliner::outline(Operation *loop, ValueRange leading, ValueRange used,
                      llvm::function_ref<void(OpBuilder &, ValueRange, IRMapping &)> fill) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  captured.insert(used.begin(), used.end());

  // Clone constants into the function; all other values become arguments.
  Location loc = loop->getLoc();
  OpBuilder builder(loop);
  llvm::SmallVector<Value> arguments(leading), variables, offsets;
  llvm::SmallVector<Operation *> constants;
  for (Value value : captured) {
    if (Operation *def = value.getDefiningOp(); def && def->hasTrait<OpTrait::ConstantLike>()) {
      constants.push_back(def);
      continue;
    }
    variables.push_back(value);
    std::optional<int64_t> offset = offsetArgument(value, loop);
    arguments.push_back(offset ? withOffset(builder, loc, value, builder.getIndexAttr(0)) : value);
    offsets.push_back(offset ? arith::ConstantIndexOp::create(builder, loc, *offset) : Value());
  }
  for (Value offset : offsets)
    if (offset)
      arguments.push_back(offset);
  builder.setInsertionPoint(parent);
  std::string name = (parent.getName() + "_" + kind + "_" + llvm::Twine(bodies.size())).str();
  auto body = func::FuncOp::create(builder, loc, name,
                                   builder.getFunctionType(ValueRange(arguments).getTypes(), {}));
  body.setPrivate();

  builder.setInsertionPointToStart(body.addEntryBlock());
  IRMapping mapping;
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  auto rest = body.getArguments().drop_front(leading.size());
  size_t next = variables.size();
  for (auto [variable, offset, argument] : llvm::zip(variables, offsets, rest))
    mapping.map(variable,
                offset ? withOffset(builder, loc, argument, rest[next++]) : Value(argument));
  fill(builder, body.getArguments().take_front(leading.size()), mapping);
  func::ReturnOp::create(builder, loc);

  builder.setInsertionPoint(loop);
  auto call = func::CallOp::create(builder, loc, share(body), arguments);
  loop->erase();
  return call;
}

} // namespace convoy
