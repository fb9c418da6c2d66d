// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/FewTerms.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// A product with weights of at most this many terms and columns is a sum. A tile of tensor cores
/// is mostly empty then: 307,328 x 8 x 8 in f16 takes 11.6 us on an H100, for 9.8 MB.
constexpr int64_t kMostTerms = 16, kMostColumns = 16;
/// So few terms take less time than to write a column, and libraries pad them.
constexpr int64_t kFewTerms = 4;
/// Elements of a matrix that is no weight, e.g. a rotation, which each thread reads.
constexpr int64_t kMostElements = 16;
/// An H100 issues about 10 instructions in the time in which it moves a byte; half of these, so
/// that a sum takes no longer than its memory.
constexpr int64_t kInstructionsPerByte = 5;
/// With fewer rows the time is that of a launch in any form.
constexpr int64_t kLeastRows = 1024;
/// The maximum number of ops that are visited around a convolution, so that the time is linear.
constexpr size_t kMostOps = 32;

/// Whether several products with weights read what `op` multiplies by its weight.
/// tcp-merge-products makes one product of these.
static bool hasSiblings(MatmulOp op, const WeightValues &weights) {
  bool isRight = weights.contains(op.getRhs());
  Value shared = isRight ? op.getLhs() : op.getRhs();
  auto isSibling = [&](Operation *user) {
    auto other = dyn_cast<MatmulOp>(user);
    return other && weights.contains(isRight ? other.getRhs() : other.getLhs());
  };
  return llvm::count_if(shared.getUsers(), isSibling) > 1;
}

/// Whether the result of `op` is read by a loop, such as that of a recurrent layer, or by as many
/// ops as are visited. Loops read products in their own order of dims.
static bool isReadByLoop(MatmulOp op) {
  llvm::SetVector<Operation *> seen;
  seen.insert(op);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (Operation *user : seen[i]->getUsers()) {
      if (user->getNumRegions() != 0 || seen.size() == kMostOps)
        return true;
      if (user->hasTrait<convoy::tcp::Elementwise>() || isa<ReshapeOp, TransposeOp, SliceOp>(user))
        seen.insert(user);
    }
  }
  return false;
}

/// Whether the multiplications and additions of a row take less time than to move it.
static bool isCheap(MatmulOp op, int64_t terms, int64_t width) {
  int64_t bits = op.getType().getElementTypeBitWidth();
  return 2 * terms * width * 8 <= kInstructionsPerByte * (terms + width) * bits;
}

/// Whether a transpose makes the terms neighbors, which a sum does not need.
static bool movesTerms(Value rows) {
  auto transpose = rows.getDefiningOp<TransposeOp>();
  return transpose &&
         transpose.getPerm().back() != static_cast<int64_t>(transpose.getPerm().size()) - 1;
}

/// Whether an elementwise op after `op` is behind a reshape. Only the kernel of a product computes
/// it.
static bool isReshaped(MatmulOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) { return isa<ReshapeOp>(user); });
}

bool isFewTermsOfMatmul(MatmulOp op, const WeightValues &weights) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  int64_t terms = lhs.back(), elements = op.getType().getNumElements();
  // What depends on weights only is computed once. A product without terms is zeros.
  if (terms == 0 || terms > kMostTerms ||
      (weights.contains(op.getLhs()) && weights.contains(op.getRhs())))
    return false;
  // A small matrix with `width` columns, or rows, on either side.
  auto isSmall = [&](Value matrix, Value rows, int64_t width) {
    bool hasFew = weights.contains(matrix)
                      ? terms <= kFewTerms || (width <= kMostColumns &&
                                               (isCheap(op, terms, width) || movesTerms(rows)))
                      : width * terms <= kMostElements && !isReshaped(op);
    return (hasFew || terms == 1) && elements / width >= kLeastRows;
  };
  return elements != 0 &&
         (isSmall(op.getRhs(), op.getLhs(), rhs.back()) ||
          isSmall(op.getLhs(), op.getRhs(), lhs[lhs.size() - 2])) &&
         !hasSiblings(op, weights) && !isReadByLoop(op);
}

/// Whether `op` is a convolution of single elements with few terms.
static bool hasFewTerms(ConvOpInterface op, const WeightValues &weights) {
  ArrayRef<int64_t> input = shapeOf(op.getInput()), filter = shapeOf(op.getWeights());
  int64_t terms = filter[1], columns = filter[0],
          rows = input[0] * ShapedType::getNumElements(input.drop_front(2));
  auto isOne = [](int64_t size) { return size == 1; };
  auto isZero = [](int64_t size) { return size == 0; };
  return !op.getChannelsLast() && op.getGroups() == 1 &&
         llvm::all_of(filter.drop_front(2), isOne) && llvm::all_of(op.getStride(), isOne) &&
         llvm::all_of(op.getPad(), isZero) && weights.contains(op.getWeights()) &&
         !weights.contains(op.getInput()) && terms != 0 && terms <= kMostTerms &&
         (columns <= kMostColumns || terms <= kFewTerms) && rows >= kLeastRows;
}

/// Whether the order of dims before `op` may be another one than that after it.
static bool endsOrder(Operation *op) {
  return isa<MatmulOp, ReshapeOp, TransposeOp>(op) || op->getNumResults() != 1 ||
         op->getNumRegions() != 0;
}

/// Whether a convolution or pool, which reads and writes channels-last images, is connected to `op`
/// by ops that keep the order of dims. True if there are many ops, so that the time is linear.
static bool isAmongImages(ConvOpInterface op, const WeightValues &weights) {
  llvm::SetVector<Operation *> seen;
  seen.insert(op);
  bool found = false;
  auto visit = [&](Operation *next) {
    if (!next || seen.contains(next))
      return;
    auto conv = dyn_cast<ConvOpInterface>(next);
    bool isImage = isa<MaxPoolOp, AvgPoolOp>(next) || (conv && !hasFewTerms(conv, weights));
    found |= isImage || seen.size() == kMostOps;
    if (!found && !endsOrder(next))
      seen.insert(next);
  };
  for (size_t i = 0; i < seen.size() && !found; ++i) {
    for (Value operand : seen[i]->getOperands())
      if (!weights.contains(operand))
        visit(operand.getDefiningOp());
    llvm::for_each(seen[i]->getUsers(), visit);
  }
  return found;
}

/// Whether only convolutions read the result of `op`, after ops of which it is the only operand
/// that is no weight. tcp-channels-last computes these in the order of the convolutions.
static bool isOnlyForConvs(Operation *op, const WeightValues &weights) {
  SmallVector<Operation *> next = {op};
  for (size_t i = 0; i < next.size(); ++i) {
    for (OpOperand &use : next[i]->getUses()) {
      Operation *user = use.getOwner();
      if (isa<ConvOpInterface>(user) && use.getOperandNumber() == 0)
        continue;
      bool isAlone = llvm::all_of(user->getOperands(), [&](Value operand) {
        return operand == use.get() || weights.contains(operand);
      });
      if (!user->hasTrait<convoy::tcp::Elementwise>() || !isAlone || next.size() == kMostOps)
        return false;
      next.push_back(user);
    }
  }
  return true;
}

bool isFewTermsOfConv(ConvOpInterface op, const WeightValues &weights) {
  if (!hasFewTerms(op, weights))
    return false;
  if (!isAmongImages(op, weights))
    return true;
  ArrayRef<int64_t> filter = shapeOf(op.getWeights());
  int64_t bits = cast<RankedTensorType>(op.getInput().getType()).getElementTypeBitWidth();
  bool isFirst = !op.getInput().getDefiningOp() || endsOrder(op.getInput().getDefiningOp());
  return isFirst && filter[1] <= kFewTerms && filter[0] * bits % 128 == 0 &&
         isOnlyForConvs(op, weights);
}

} // namespace convoy
