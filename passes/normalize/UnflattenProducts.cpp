// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives products with weights the dims that were merged to rows before them. The rows of such a
// product are independent, so its dims may have any order in memory, which tcp-channels-last
// chooses. tcp-flatten-products merges them again.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPUNFLATTENPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// Moves a reshape that splits dims before a transpose, where another reshape has merged them:
/// heads of sentences, which PyTorch's attention merges.
struct HoistSplit : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasOneUse() || !transpose.getInput().getDefiningOp<ReshapeOp>())
      return rewriter.notifyMatchFailure(op, "no reshape and transpose before it alone");
    ArrayRef<int64_t> from = shapeOf(transpose), to = shapeOf(op);
    if (to.size() <= from.size())
      return rewriter.notifyMatchFailure(op, "it splits no dim");
    std::optional<SmallVector<ReassociationIndices>> groups =
        getReassociationIndicesForReshape(transpose.getType(), op.getType());
    if (!groups)
      return rewriter.notifyMatchFailure(op, "it does not only split dims");
    // The dims of the transpose's input in order, each split.
    SmallVector<int64_t> shape, perm(to.size());
    for (int64_t dim : invertPermutationVector(transpose.getPerm()))
      for (int64_t part : (*groups)[dim]) {
        perm[part] = static_cast<int64_t>(shape.size());
        shape.push_back(to[part]);
      }
    Value split = ReshapeOp::create(rewriter, op.getLoc(), withShape(op.getType(), shape),
                                    transpose.getInput());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), split, perm);
    return success();
  }
};

struct TcpUnflattenProductsPass
    : public convoy::impl::TcpUnflattenProductsPassBase<TcpUnflattenProductsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// The shape of the rows of `reshape` before they are merged, and of a row, if it merges several
/// dims to rows. A row may be merged too, e.g. of the heads of attention.
static std::optional<SmallVector<int64_t>> shapeOfRows(ReshapeOp reshape) {
  ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(reshape);
  if (to.size() != 2)
    return std::nullopt;
  int64_t row = 1;
  while (!from.empty() && row < to.back()) {
    row *= from.back();
    from = from.drop_back();
  }
  if (row != to.back() || from.size() < 2)
    return std::nullopt;
  SmallVector<int64_t> shape(from);
  shape.push_back(row);
  return shape;
}

/// `shape` with leading dims of size 1, so that its rank is `rank`.
static SmallVector<int64_t> withUnits(ArrayRef<int64_t> shape, size_t rank) {
  SmallVector<int64_t> result(rank - shape.size(), 1);
  llvm::append_range(result, shape);
  return result;
}

/// A product with a weight whose rows are merged dims becomes one of all dims, whose rows are
/// merged after it. Returns the reshape after it.
static ReshapeOp unflatten(OpBuilder &builder, MatmulOp op, ReshapeOp rows,
                           SmallVector<int64_t> shape) {
  Value input = reshaped(builder, rows.getLoc(), rows.getInput(), shape),
        factor = reshaped(builder, op.getLoc(), op.getRhs(),
                          withUnits(shapeOf(op.getRhs()), shape.size()));
  shape.back() = shapeOf(op.getOutput()).back();
  Value product =
      MatmulOp::create(builder, op.getLoc(), withShape(op.getType(), shape), input, factor);
  return ReshapeOp::create(builder, op.getLoc(), op.getType(), product);
}

/// The one user of `rows`, if it is an elementwise op whose other operands are rows of weights,
/// such as a bias.
static Operation *userWithRows(ReshapeOp rows, const WeightValues &weights) {
  if (!rows->hasOneUse())
    return nullptr;
  Operation *user = *rows->user_begin();
  // tcp-flatten-products does not move reshapes behind ops with constants.
  auto isRow = [&](Value operand) {
    return operand == rows.getOutput() || (weights.contains(operand) && shapeOf(operand)[0] == 1 &&
                                           !matchPattern(operand, m_Constant()));
  };
  return user->hasTrait<convoy::tcp::Elementwise>() && llvm::all_of(user->getOperands(), isRow)
             ? user
             : nullptr;
}

/// Moves `rows` behind `user`. Returns the reshape after it.
static ReshapeOp sink(OpBuilder &builder, ReshapeOp rows, Operation *user) {
  builder.setInsertionPoint(user);
  ArrayRef<int64_t> split = shapeOf(rows.getInput());
  SmallVector<Value> operands = llvm::map_to_vector(user->getOperands(), [&](Value operand) {
    return operand == rows.getOutput() ? rows.getInput()
                                       : reshaped(builder, rows.getLoc(), operand,
                                                  withUnits(shapeOf(operand), split.size()));
  });
  SmallVector<int64_t> shape(split);
  Type type = user->getResult(0).getType();
  Operation *moved = cloneWith(builder, user, operands, withShape(type, shape));
  auto after = ReshapeOp::create(builder, rows.getLoc(), type, moved->getResult(0));
  user->getResult(0).replaceAllUsesWith(after);
  return after;
}

void TcpUnflattenProductsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  WeightValues weights(function);
  OpBuilder builder(&getContext(), &weights);
  SmallVector<MatmulOp> products;
  function.walk([&](MatmulOp op) { products.push_back(op); });
  // Replaced ops are erased at the end, because `weights` knows values by their address.
  SmallVector<Operation *> replaced;
  for (MatmulOp op : products) {
    auto rows = op.getLhs().getDefiningOp<ReshapeOp>();
    std::optional<SmallVector<int64_t>> shape = rows ? shapeOfRows(rows) : std::nullopt;
    if (!shape || weights.contains(rows) || !weights.contains(op.getRhs()))
      continue;
    builder.setInsertionPoint(op);
    ReshapeOp after = unflatten(builder, op, rows, *shape);
    op.getOutput().replaceAllUsesWith(after);
    replaced.push_back(op);
    while (Operation *user = userWithRows(after, weights)) {
      replaced.push_back(user);
      after = sink(builder, after, user);
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  RewritePatternSet patterns(&getContext());
  patterns.add<HoistSplit>(&getContext());
  ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    signalPassFailure();
}
