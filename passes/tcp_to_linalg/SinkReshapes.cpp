// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves reshapes that merge dims after the elementwise ops that use them, so that these ops fuse
// into the computation before the reshape, e.g. the affine part and the activation into a group
// norm.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSINKRESHAPESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpSinkReshapesPass : public convoy::impl::TcpSinkReshapesPassBase<TcpSinkReshapesPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// The dims of its input that each dim of the result of `reshape` merges, if `op` is its only user
/// and has a result of its shape, and a kernel computes its input for it alone.
static std::optional<SmallVector<ReassociationIndices>> movableAfter(ReshapeOp reshape,
                                                                     Operation *op) {
  Operation *producer = reshape.getInput().getDefiningOp();
  if (!producer || !reshape.getInput().hasOneUse() || !reshape->hasOneUse() ||
      shapeOf(op->getResult(0)) != shapeOf(reshape) ||
      !(producer->hasTrait<convoy::tcp::Elementwise>() || isa<LayerNormOp, SoftmaxOp>(producer)) ||
      shapeOf(reshape.getInput()).size() <= shapeOf(reshape).size())
    return std::nullopt;
  return getReassociationIndicesForReshape(reshape.getInput().getType(), reshape.getType());
}

static void sink(ReshapeOp reshape, Operation *op, ArrayRef<ReassociationIndices> merged) {
  OpBuilder builder(op);
  ArrayRef<int64_t> split = shapeOf(reshape.getInput());
  IRMapping mapping;
  mapping.map(reshape.getResult(), reshape.getInput());
  for (Value operand : op->getOperands()) {
    if (operand == reshape.getResult() || mapping.contains(operand))
      continue;
    // A dim of size 1 broadcasts over all that it is split into. A scalar has no dims, and becomes
    // a tensor of one element.
    SmallVector<int64_t> shape(merged.empty() ? split : ArrayRef<int64_t>());
    for (auto [size, dims] : llvm::zip_equal(shapeOf(operand), merged))
      for (int64_t dim : dims)
        shape.push_back(size == 1 ? 1 : split[dim]);
    auto type = cast<RankedTensorType>(operand.getType()).clone(shape);
    mapping.map(operand, ReshapeOp::create(builder, reshape.getLoc(), type, operand).getResult());
  }
  Operation *moved = builder.clone(*op, mapping);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  moved->getResult(0).setType(type.clone(split));
  op->getResult(0).replaceAllUsesWith(
      ReshapeOp::create(builder, reshape.getLoc(), type, moved->getResult(0)));
  op->erase();
  reshape.erase();
}

void TcpSinkReshapesPass::runOnStaticShapes() {
  getOperation().walk([&](Block *block) {
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (!op.hasTrait<convoy::tcp::Elementwise>())
        continue;
      for (Value operand : op.getOperands())
        if (auto reshape = operand.getDefiningOp<ReshapeOp>())
          if (std::optional<SmallVector<ReassociationIndices>> merged =
                  movableAfter(reshape, &op)) {
            sink(reshape, &op, *merged);
            break;
          }
    }
  });
}
