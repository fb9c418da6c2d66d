// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/Moves.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/common/Buffers.h"

using namespace mlir;
using namespace convoy;

/// Elements that are so close are in a few cache lines, so threads that read them repeatedly may do
/// so in any order.
static constexpr int64_t kNearBytes = 512;

static bool isArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op);
}

/// Whether an op of a body costs less than to write and read its result.
static bool isCheap(Operation *op) {
  if (isArithmetic(op))
    return true;
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, arith::SelectOp, arith::ConstantOp,
          arith::CmpIOp, linalg::IndexOp, linalg::YieldOp, tensor::ExtractOp, affine::AffineApplyOp,
          scf::IfOp, scf::YieldOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         op->getResult(0).getType().isIndex();
}

bool convoy::readsByIndex(linalg::LinalgOp op) {
  return op.getBlock()
      ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether `input`, which has a row-major layout, is read along another dim than the last loop's,
/// with elements far from each other.
static bool isReadAcross(linalg::LinalgOp op, OpOperand *input) {
  ArrayRef<AffineExpr> results = op.getMatchingIndexingMap(input).getResults();
  auto type = dyn_cast<RankedTensorType>(input->get().getType()),
       result = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned last = op.getNumLoops() - 1;
  for (size_t dim = 0; dim + 1 < results.size(); ++dim)
    if (results[dim].isFunctionOfDim(last) &&
        (type.getNumElements() == result.getNumElements() ||
         packedBytes(type.clone(type.getShape().drop_front(dim))) > kNearBytes))
      return true;
  return false;
}

bool convoy::isMove(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) || op.getNumLoops() == 0)
    return false;
  if (llvm::any_of(op.getDpsInputOperands(),
                   [&](OpOperand *input) { return isReadAcross(op, input); }))
    return false;
  return !op.getBlock()
              ->walk([](Operation *inner) {
                return isCheap(inner) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether `use` may be the read of one input of a concat along one dim, with an index that is less
/// than that of the result in this dim only.
static bool isOfConcat(OpOperand *use) {
  auto read = dyn_cast<tensor::ExtractOp>(use->getOwner());
  return read && isa<scf::IfOp>(read->getParentOp()) &&
         llvm::count_if(read.getIndices(), [](Value index) {
           return !index.getDefiningOp<linalg::IndexOp>() && !matchPattern(index, m_Constant());
         }) <= 1;
}

/// The generic that has `uses`: one, or several of which a branch selects one. Null if there is
/// none.
static linalg::LinalgOp readerOf(ArrayRef<OpOperand *> uses) {
  linalg::LinalgOp reader;
  for (OpOperand *use : uses) {
    Operation *owner = use->getOwner();
    auto own = dyn_cast<linalg::LinalgOp>(owner);
    if (!own)
      own = owner->getParentOfType<linalg::LinalgOp>();
    if (!own || own->getNumResults() == 0 || (reader && own != reader) ||
        (uses.size() != 1 && !isa<scf::IfOp>(owner->getParentOp())))
      return nullptr;
    reader = own;
  }
  return reader;
}

/// Whether `move` and its reader interpolate, each between two elements along a dim, as a bilinear
/// resize does. The reader then reads four elements, which are in the caches because other elements
/// of the result are computed from them too.
static bool isInterpolation(linalg::LinalgOp move, ArrayRef<OpOperand *> uses) {
  constexpr int64_t kBetween = 2;
  if (uses.size() != kBetween || !llvm::all_of(uses, [&](OpOperand *use) {
        return isa<tensor::ExtractOp>(use->getOwner()) &&
               use->getOwner()->getBlock() == uses.front()->getOwner()->getBlock() &&
               isa<linalg::LinalgOp>(use->getOwner()->getParentOp());
      }))
    return false;
  int64_t reads = 0;
  move.getBlock()->walk([&](tensor::ExtractOp) { ++reads; });
  // What is no read by index, such as the coefficients, is the same for all other dims.
  return reads == kBetween && llvm::all_of(move.getDpsInputs(), [&](Value input) {
           auto type = dyn_cast<RankedTensorType>(input.getType());
           return !type ||
                  llvm::is_contained(tcp::shapeOf(move->getResult(0)), type.getNumElements());
         });
}

bool convoy::isWorthwhile(linalg::LinalgOp move, ArrayRef<OpOperand *> uses) {
  WalkResult computes = move.getBlock()->walk([](Operation *op) {
    return isArithmetic(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!computes.wasInterrupted())
    return true;
  if (isInterpolation(move, uses))
    return true;
  linalg::LinalgOp reader = readerOf(uses);
  if (!reader || llvm::all_of(uses, isOfConcat))
    return false;
  int64_t bytes = 0;
  for (Value input : move.getDpsInputs())
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      bytes += packedBytes(type);
  auto result = cast<RankedTensorType>(move->getResult(0).getType());
  int64_t reads = cast<RankedTensorType>(reader->getResult(0).getType()).getNumElements();
  return bytes <= packedBytes(result) || reads / 2 <= result.getNumElements();
}
