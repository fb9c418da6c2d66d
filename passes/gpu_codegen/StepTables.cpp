// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computes positions that are read from tables whose elements are known, as of resizing by an
// integer factor.

#include "passes/gpu_codegen/StepTables.h"
#include "dialect/tcp/TcpSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using convoy::tcp::Steps;

namespace convoy::gpu_codegen {

static std::optional<Steps> stepsOf(Value table, func::FuncOp func) {
  auto argument = dyn_cast<BlockArgument>(table);
  if (!argument || argument.getOwner()->getParentOp() != func)
    return std::nullopt;
  return Steps::from(func.getArgAttr(argument.getArgNumber(), convoy::tcp::kStepsAttr));
}

/// The element `index` of the table, as an index.
static Value elementOf(const Steps &steps, Value index, OpBuilder &b) {
  Location loc = index.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // The dividend is never negative.
  int64_t whole = llvm::divideFloorSigned(steps.shift, steps.divisor),
          rest = steps.shift - whole * steps.divisor;
  Value element = index;
  if (rest != 0)
    element = arith::AddIOp::create(b, loc, element, number(rest));
  if (steps.divisor != 1)
    element = arith::DivUIOp::create(b, loc, element, number(steps.divisor));
  if (whole != 0)
    element = arith::AddIOp::create(b, loc, element, number(whole));
  // Also for numbers that cannot be negative: equal positions of several tables are equal values.
  element = arith::MaxSIOp::create(b, loc, element, number(0));
  return arith::MinSIOp::create(b, loc, element, number(steps.last));
}

/// Replaces `read`, an element of a table, by the index `element`.
static void replace(Value read, Value element, OpBuilder &b) {
  for (Operation *user : llvm::make_early_inc_range(read.getUsers()))
    if (auto cast = dyn_cast<arith::IndexCastOp>(user); cast && cast.getType().isIndex()) {
      cast.replaceAllUsesWith(element);
      cast.erase();
    }
  if (!read.use_empty())
    read.replaceAllUsesWith(arith::IndexCastOp::create(b, read.getLoc(), read.getType(), element));
}

static void computeSteps(linalg::GenericOp op, func::FuncOp func) {
  OpBuilder b = OpBuilder::atBlockBegin(op.getBody());
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Steps> steps = stepsOf(input->get(), func);
    AffineMap map = op.getMatchingIndexingMap(input);
    BlockArgument read = op.getMatchingBlockArgument(input);
    if (!steps || read.use_empty() || !isa<AffineDimExpr>(map.getResult(0)))
      continue;
    Value index = linalg::IndexOp::create(b, op.getLoc(),
                                          cast<AffineDimExpr>(map.getResult(0)).getPosition());
    replace(read, elementOf(*steps, index, b), b);
  }
  SmallVector<memref::LoadOp> loads;
  op.getBody()->walk([&](memref::LoadOp load) { loads.push_back(load); });
  for (memref::LoadOp load : loads)
    if (std::optional<Steps> steps = stepsOf(load.getMemRef(), func)) {
      b.setInsertionPoint(load);
      replace(load.getResult(), elementOf(*steps, load.getIndices().front(), b), b);
      load.erase();
    }
}

void computeSteps(func::FuncOp func) {
  // Ops that have no indices yet may be parts of regions, in which indices are not allowed.
  func.walk([&](linalg::GenericOp op) {
    if (op.hasIndexSemantics())
      computeSteps(op, func);
  });
}

} // namespace convoy::gpu_codegen
