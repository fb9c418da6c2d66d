// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/Views.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/plan/Accesses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace convoy {

bool walkUsers(Value memref, llvm::function_ref<bool(Operation *)> visit) {
  SmallVector<Value> views = {memref};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(views, user->getResults());
      else if (!visit(user))
        return false;
    }
  return true;
}

bool writes(Operation *op, Value root) {
  return llvm::any_of(memrefsWrittenBy(op), [&](Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    return memref == root;
  });
}

/// The type of `view`, or nullopt, if that of its source is `source`.
static std::optional<MemRefType> viewType(Operation *view, MemRefType source) {
  return llvm::TypeSwitch<Operation *, std::optional<MemRefType>>(view)
      .Case([&](memref::SubViewOp op) {
        return memref::SubViewOp::inferRankReducedResultType(
            op.getType().getShape(), source, op.getMixedOffsets(), op.getMixedSizes(),
            op.getMixedStrides());
      })
      .Case([&](memref::CollapseShapeOp op) -> std::optional<MemRefType> {
        SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
        if (!memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups))
          return std::nullopt;
        return memref::CollapseShapeOp::computeCollapsedType(source, groups);
      })
      .Case([&](memref::ExpandShapeOp op) -> std::optional<MemRefType> {
        FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
            source, op.getType().getShape(), op.getReassociationIndices());
        if (failed(type))
          return std::nullopt;
        return type;
      })
      .Case([&](memref::CastOp) { return source; })
      .Default([](Operation *) { return std::nullopt; });
}

bool areViewsValid(Value memref, MemRefType type) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    if (!isa<ViewLikeOpInterface>(user))
      return true;
    std::optional<MemRefType> view = viewType(user, type);
    return view && areViewsValid(user->getResult(0), *view);
  });
}

std::optional<MemRefType> inverseViewType(Operation *view, MemRefType type) {
  return llvm::TypeSwitch<Operation *, std::optional<MemRefType>>(view)
      .Case([&](memref::CollapseShapeOp op) -> std::optional<MemRefType> {
        FailureOr<MemRefType> source = memref::ExpandShapeOp::computeExpandedType(
            type, op.getSrcType().getShape(), op.getReassociationIndices());
        if (failed(source))
          return std::nullopt;
        return source;
      })
      .Case([&](memref::ExpandShapeOp op) -> std::optional<MemRefType> {
        SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
        if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
          return std::nullopt;
        return memref::CollapseShapeOp::computeCollapsedType(type, groups);
      })
      .Case([&](memref::CastOp) { return type; })
      .Default([](Operation *) { return std::nullopt; });
}

Value inverseView(OpBuilder &builder, Operation *view, Value value) {
  return llvm::TypeSwitch<Operation *, Value>(view)
      .Case([&](memref::CollapseShapeOp op) -> Value {
        return memref::ExpandShapeOp::create(builder, op.getLoc(), op.getSrcType().getShape(),
                                             value, op.getReassociationIndices());
      })
      .Case([&](memref::ExpandShapeOp op) -> Value {
        return memref::CollapseShapeOp::create(builder, op.getLoc(), value,
                                               op.getReassociationIndices());
      })
      .Default([&](Operation *) { return value; });
}

void replaceView(Value view, Value value) {
  for (OpOperand &use : llvm::make_early_inc_range(view.getUses())) {
    Operation *user = use.getOwner();
    OpBuilder builder(user);
    Location loc = user->getLoc();
    Value updated =
        llvm::TypeSwitch<Operation *, Value>(user)
            .Case([&](memref::SubViewOp op) {
              MemRefType type = memref::SubViewOp::inferRankReducedResultType(
                  op.getType().getShape(), cast<MemRefType>(value.getType()), op.getMixedOffsets(),
                  op.getMixedSizes(), op.getMixedStrides());
              return memref::SubViewOp::create(builder, loc, type, value, op.getMixedOffsets(),
                                               op.getMixedSizes(), op.getMixedStrides());
            })
            .Case([&](memref::CollapseShapeOp op) {
              return memref::CollapseShapeOp::create(builder, loc, value,
                                                     op.getReassociationIndices());
            })
            .Case([&](memref::ExpandShapeOp op) {
              return memref::ExpandShapeOp::create(builder, loc, op.getType().getShape(), value,
                                                   op.getReassociationIndices());
            })
            .Case([&](memref::CastOp) { return value; })
            .Default([](Operation *) { return Value(); });
    if (!updated) {
      use.set(value);
      continue;
    }
    replaceView(user->getResult(0), updated);
    user->erase();
  }
}

} // namespace convoy
