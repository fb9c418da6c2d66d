// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fuses ops that move elements into the generics that read their results by index, e.g. slices into
// a concat, so that no copy of a tensor exists only to be read once more. Sums and products are
// fused too, if their reader reads them about once.

#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "passes/tcp_to_linalg/Moves.h"

namespace convoy {
#define GEN_PASS_DEF_FUSEREADSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct FuseReadsPass : public convoy::impl::FuseReadsPassBase<FuseReadsPass> {
  using Base::Base;
  void runOnOperation() override;
};

} // namespace

/// A bound for the ops of a kernel, because a chain of concats of slices grows exponentially.
static constexpr size_t kMostOps = 256;

static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

static size_t numOps(linalg::LinalgOp op) {
  size_t count = 0;
  op.getBlock()->walk([&](Operation *) { ++count; });
  return count;
}

/// The uses of `value` and of its reshapes.
static SmallVector<OpOperand *> usesOf(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (isReshape(use.getOwner()))
      llvm::append_range(uses, usesOf(use.getOwner()->getResult(0)));
    else
      uses.push_back(&use);
  return uses;
}

/// The generic of `block` that reads an element by `use`.
static linalg::GenericOp readerOf(OpOperand &use, Block *block) {
  if (!isa<tensor::ExtractOp>(use.getOwner()))
    return nullptr;
  auto reader = use.getOwner()->getParentOfType<linalg::GenericOp>();
  return reader && reader->getBlock() == block ? reader : nullptr;
}

static Value apply(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange indices) {
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(indices.size(), 0, expr),
                                            getAsOpFoldResult(indices)));
}

/// The indices in dims of `shape` of the element at `index` in the dim that merges them.
static SmallVector<Value> splitIndex(Value index, ArrayRef<int64_t> shape, OpBuilder &builder,
                                     Location loc) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> result(shape.size());
  int64_t left = ShapedType::getNumElements(shape);
  for (auto dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    int64_t size = shape[dim];
    left /= size;
    if (size == 1)
      result[dim] = constant(0);
    else if (left == 1)
      result[dim] = index; // the first dim with several elements needs no remainder
    else
      result[dim] = arith::RemUIOp::create(builder, loc, index, constant(size));
    if (size != 1 && left != 1)
      index = arith::DivUIOp::create(builder, loc, index, constant(size));
  }
  return result;
}

/// The indices of the element in `root` that is the one at `indices` in `value`, a reshape of it.
static SmallVector<Value> indicesIn(Value root, Value value, SmallVector<Value> indices,
                                    OpBuilder &builder, Location loc) {
  if (value == root)
    return indices;
  Operation *reshape = value.getDefiningOp();
  Value input = reshape->getOperand(0);
  SmallVector<Value> result;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape)) {
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      AffineExpr sum = builder.getAffineConstantExpr(0);
      for (int64_t dim : group)
        sum = sum * shapeOf(value)[dim] + builder.getAffineDimExpr(dim);
      result.push_back(apply(builder, loc, sum, indices));
    }
  } else {
    auto collapse = cast<tensor::CollapseShapeOp>(reshape);
    for (auto [index, group] : llvm::zip_equal(indices, collapse.getReassociationIndices())) {
      SmallVector<Value> split = splitIndex(
          index, ArrayRef(shapeOf(input)).slice(group.front(), group.size()), builder, loc);
      llvm::append_range(result, split);
    }
  }
  return indicesIn(root, input, std::move(result), builder, loc);
}

/// Replaces a read of the result of `move` by the computation of the element.
static void computeInPlace(tensor::ExtractOp read, linalg::LinalgOp move) {
  OpBuilder builder(read);
  Location loc = read.getLoc();
  SmallVector<Value> indices = indicesIn(move->getResult(0), read.getTensor(),
                                         llvm::to_vector(read.getIndices()), builder, loc);
  IRMapping mapping;
  for (OpOperand *input : move.getDpsInputOperands()) {
    BlockArgument argument = move.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (!isa<RankedTensorType>(input->get().getType())) {
      mapping.map(argument, input->get());
      continue;
    }
    SmallVector<Value> where;
    for (AffineExpr expr : move.getMatchingIndexingMap(input).getResults())
      where.push_back(apply(builder, loc, expr, indices));
    mapping.map(argument, tensor::ExtractOp::create(builder, loc, input->get(), where).getResult());
  }
  for (Operation &op : move.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), indices[index.getDim()]);
      continue;
    }
    builder.clone(op, mapping)->walk([&](linalg::IndexOp inner) {
      inner.replaceAllUsesWith(indices[inner.getDim()]);
      inner.erase();
    });
  }
  read.replaceAllUsesWith(mapping.lookupOrDefault(move.getBlock()->getTerminator()->getOperand(0)));
  read.erase();
}

/// Makes a generic read `use`, one of its inputs, by index.
static void readByIndex(OpOperand &use) {
  auto op = cast<linalg::GenericOp>(use.getOwner());
  unsigned number = use.getOperandNumber();
  BlockArgument argument = op.getBody()->getArgument(number);
  OpBuilder builder = OpBuilder::atBlockBegin(op.getBody());
  SmallVector<Value> dims, where;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    dims.push_back(linalg::IndexOp::create(builder, op.getLoc(), dim));
  for (AffineExpr expr : op.getMatchingIndexingMap(&use).getResults())
    where.push_back(apply(builder, op.getLoc(), expr, dims));
  argument.replaceAllUsesWith(
      tensor::ExtractOp::create(builder, op.getLoc(), use.get(), where).getResult());

  SmallVector<Value> inputs = op.getDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  inputs.erase(inputs.begin() + number);
  maps.erase(maps.begin() + number);
  builder.setInsertionPoint(op);
  auto copy = linalg::GenericOp::create(builder, op.getLoc(), op.getResultTypes(), inputs,
                                        op.getOutputs(), maps, op.getIteratorTypesArray());
  copy.getRegion().takeBody(op.getRegion());
  copy.getBody()->eraseArgument(number);
  op.replaceAllUsesWith(copy);
  op.erase();
}

/// Whether `use` is an input of an elementwise generic of `block`.
static bool isElementwiseInput(OpOperand &use, Block *block) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && op->getBlock() == block && op.getNumReductionLoops() == 0 && op.isDpsInput(&use);
}

/// Fuses `move` into the generics that read its result, if it has no other uses.
static bool fuse(linalg::LinalgOp move) {
  Block *block = move->getBlock();
  SmallVector<OpOperand *> uses = usesOf(move->getResult(0));
  if (uses.empty() || !isWorthwhile(move, uses))
    return false;
  SmallPtrSet<Operation *, 4> readers;
  for (OpOperand *use : uses)
    if (linalg::GenericOp reader = readerOf(*use, block))
      readers.insert(reader);
  // An input is read by index as well if the same op reads other elements so, or if it is the only
  // use of what is read by index, which has no order that could be lost.
  auto isInput = [&](OpOperand *use) {
    return isElementwiseInput(*use, block) &&
           (readers.contains(use->getOwner()) || (uses.size() == 1 && readsByIndex(move)));
  };
  size_t added = numOps(move) * uses.size();
  for (OpOperand *use : uses) {
    auto reader = isInput(use) ? cast<linalg::GenericOp>(use->getOwner()) : readerOf(*use, block);
    if (!reader || numOps(reader) + added > kMostOps)
      return false;
  }
  while (true) {
    auto *input =
        llvm::find_if(uses, [](OpOperand *use) { return isa<linalg::GenericOp>(use->getOwner()); });
    if (input == uses.end())
      break;
    readByIndex(**input);
    uses = usesOf(move->getResult(0));
  }
  for (OpOperand *use : uses)
    computeInPlace(cast<tensor::ExtractOp>(use->getOwner()), move);
  return true;
}

/// Erases `op` and the reshapes of its result, which have no other users.
static void eraseWithReshapes(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    eraseWithReshapes(user);
  op->erase();
}

void FuseReadsPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || tcp::getTarget(function) != tcp::Target::Cuda)
    return;
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  for (Block *block : blocks)
    // Readers come before what they read, so that chains of moves become one read.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (auto move = dyn_cast<linalg::LinalgOp>(op); move && isMove(move) && fuse(move))
        eraseWithReshapes(move);
}
