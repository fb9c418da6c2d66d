// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts the ops to channels-last that move elements or whose attributes name dims, and matrix
// products.

#include "passes/normalize/ChannelsLast.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

bool ChannelsLastRewriter::visitConcat(ConcatOp op) {
  Permutation perm = commonOrder(op.getInputs(), op);
  if (isIdentity(perm))
    return false;
  SmallVector<Value> operands = llvm::map_to_vector(
      op.getInputs(), [&](Value operand) { return layouts.in(operand, perm, op.getLoc()); });
  auto concat = cast<ConcatOp>(cloneWith(builder, op, operands, storedType(op, perm)));
  concat.setDim(perm[op.getDim()]);
  layouts.set(op, concat, perm);
  return true;
}

bool ChannelsLastRewriter::visitIndexSelect(IndexSelectOp op) {
  Permutation perm = layouts.perm(op.getInput());
  // Other indices change the rank.
  if (isIdentity(perm) || shapeOf(op.getIndices()).size() != 1)
    return false;
  auto copy = cast<IndexSelectOp>(
      cloneWith(builder, op, {layouts.get(op.getInput()), op.getIndices()}, storedType(op, perm)));
  copy.setDimAttr(builder.getIndexAttr(perm[op.getDim().getSExtValue()]));
  layouts.set(op, copy, perm);
  return true;
}

template <typename Op> bool ChannelsLastRewriter::visitSameOrder(Op op) {
  Permutation perm = layouts.perm(op.getInput());
  if (isIdentity(perm))
    return false;
  auto copy = cast<Op>(cloneWith(builder, op, layouts.get(op.getInput()), storedType(op, perm)));
  layouts.set(op, copy, perm);
  if constexpr (std::is_same_v<Op, PadOp>) {
    copy.setLow(toStored(op.getLow(), perm));
    copy.setHigh(toStored(op.getHigh(), perm));
    copy.setInterior(toStored(op.getInterior(), perm));
  } else if constexpr (std::is_same_v<Op, SliceOp>) {
    copy.setStarts(toStored(op.getStarts(), perm));
    copy.setSizes(toStored(op.getSizes(), perm));
    copy.setStrides(toStored(op.getStrides(), perm));
  } else if constexpr (std::is_same_v<Op, SoftmaxOp>) {
    copy.setDim(perm[op.getDim()]);
  } else if constexpr (std::is_same_v<Op, CumsumOp> || std::is_same_v<Op, CumprodOp>) {
    copy.setDimAttr(builder.getIndexAttr(perm[op.getDim().getSExtValue()]));
  } else if constexpr (!std::is_same_v<Op, BroadcastOp>) {
    SmallVector<int64_t> dims =
        llvm::map_to_vector(op.getDims(), [&](int64_t dim) { return perm[dim]; });
    llvm::sort(dims);
    copy.setDims(dims);
  }
  return true;
}

/// Whether all uses of `value`, directly or through elementwise ops, are products with weights. The
/// columns of `value` may then be permuted together with the rows of the weights.
static bool feedsMatmulsOnly(Value value, const WeightValues &weights) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (auto matmul = dyn_cast<MatmulOp>(use.getOwner()))
      return use.getOperandNumber() == 0 && weights.contains(matmul.getRhs());
    Operation *user = use.getOwner();
    return user->hasTrait<convoy::tcp::Elementwise>() && user->getNumOperands() == 1 &&
           feedsMatmulsOnly(user->getResult(0), weights);
  });
}

bool ChannelsLastRewriter::visitReshape(ReshapeOp op) {
  Value input = op.getInput();
  if (!layouts.has(input) || op.getType().getNumElements() == 0)
    return false;
  Permutation perm = layouts.perm(input);
  ArrayRef<int64_t> from = shapeOf(input), to = op.getType().getShape();
  Value stored = layouts.get(input);
  StoredReshape steps = followReshape(from, to, perm);

  if (!steps.transposed.empty()) {
    // N x C x spatial -> N x features before a matrix product: the rows of the weights are permuted
    // to the stored order instead.
    if (to.size() == 2 && from.size() > 2 && from[0] == to[0] && perm[0] == 0 &&
        feedsMatmulsOnly(op, weights)) {
      Shuffled &entry = shuffled[op];
      entry.shape.assign(from.begin() + 1, from.end());
      for (int64_t dim : toStored(identity(from.size()), perm))
        if (dim != 0)
          entry.transposed.push_back(dim - 1);
      op->setOperand(0, stored);
      return false;
    }
    // The transpose may as well restore the original order, if the ops after it require that.
    if (bytesToTranspose(op, steps.perm, weights) >
        bytesToTranspose(op, identity(to.size()), weights))
      return false;
    SmallVector<int64_t> shape =
        llvm::map_to_vector(steps.transposed, [&](int64_t dim) { return shapeOf(stored)[dim]; });
    stored = TransposeOp::create(builder, op.getLoc(), withShape(stored.getType(), shape), stored,
                                 steps.transposed);
  }
  Value result =
      ReshapeOp::create(builder, op.getLoc(), withShape(op.getType(), steps.shape), stored);
  layouts.set(op, result, steps.perm);
  return true;
}

/// A product with one weight for all of its rows is computed in the order of its left factor,
/// unless more bytes would be transposed after it than before it.
bool ChannelsLastRewriter::keepOrder(MatmulOp op) {
  Permutation perm = layouts.perm(op.getLhs());
  if (isIdentity(perm) || !canKeepOrder(op, perm, weights))
    return false;
  if (bytesToTranspose(op.getOutput(), perm, weights) >
      bytesOf(op.getLhs()) + bytesToTranspose(op.getOutput(), identity(perm.size()), weights))
    return false;
  Value product = cloneWith(builder, op, {layouts.get(op.getLhs()), op.getRhs()},
                            storedType(op.getOutput(), perm))
                      ->getResult(0);
  layouts.set(op.getOutput(), product, perm);
  return true;
}

bool ChannelsLastRewriter::visitMatmul(MatmulOp op) {
  if (keepOrder(op))
    return true;
  auto found = shuffled.find(op.getLhs());
  if (found == shuffled.end())
    return false;
  const Shuffled &order = found->second;
  Value rows = op.getRhs();
  RankedTensorType type = op.getRhs().getType();
  int64_t columns = type.getDimSize(1);
  SmallVector<int64_t> shape(order.shape), perm(order.transposed);
  shape.push_back(columns);
  perm.push_back(perm.size());
  rows = ReshapeOp::create(builder, op.getLoc(), withShape(type, shape), rows);
  SmallVector<int64_t> transposed =
      llvm::map_to_vector(perm, [&](int64_t dim) { return shape[dim]; });
  rows = TransposeOp::create(builder, op.getLoc(), withShape(type, transposed), rows, perm);
  op.getRhsMutable().set(ReshapeOp::create(builder, op.getLoc(), type, rows));
  return false;
}

bool ChannelsLastRewriter::visitShapeOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ConcatOp op) { return visitConcat(op); })
      .Case([&](IndexSelectOp op) { return visitIndexSelect(op); })
      .Case([&](ReshapeOp op) { return visitReshape(op); })
      .Case([&](MatmulOp op) { return visitMatmul(op); })
      .Case([&](TransposeOp op) {
        Permutation perm = layouts.perm(op.getInput());
        Permutation composed = llvm::to_vector<5>(
            llvm::map_range(op.getPerm(), [&](int64_t dim) { return perm[dim]; }));
        layouts.set(op, layouts.get(op.getInput()), composed);
        return true;
      })
      .Case<BroadcastOp, PadOp, SliceOp, ReverseOp, ReduceSumOp, ReduceMeanOp, ReduceMaxOp,
            SoftmaxOp, CumsumOp, CumprodOp, LayerNormOp>(
          [&](auto op) { return visitSameOrder(op); })
      .Default([](Operation *) { return false; });
}
