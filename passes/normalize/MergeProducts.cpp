// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Merges products with the same left factor whose results are read through views: the projections
// of attention. One large product fills a GPU better than three, and reads its input once.

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace convoy {
#define GEN_PASS_DEF_TCPMERGEPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpMergeProductsPass : public convoy::impl::TcpMergeProductsPassBase<TcpMergeProductsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// A product with a weight, and the sum with a bias that follows it, if any.
struct Member {
  MatmulOp product;
  AddOp sum;
  Value bias;

  Value result() const {
    return sum ? Value(AddOp(sum).getOutput()) : MatmulOp(product).getOutput();
  }
};

} // namespace

/// A slice of columns keeps the alignment of 16 bytes that kernels and cuDNN need.
static constexpr int64_t kAlignedBits = 128;

static bool isView(Operation *op) { return isa<ReshapeOp, TransposeOp, SliceOp>(op); }

/// Whether all uses of `value`, possibly through further views, read elements where they are:
/// attention, concats and elementwise ops. A product or a convolution would copy them first.
static bool isReadInPlace(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isView(user) ? isReadInPlace(user->getResult(0))
                        : isa<AttentionOp, ConcatOp>(user) || user->hasTrait<Elementwise>();
  });
}

/// Whether attention reads `value` through views and elementwise ops, e.g. those of rotary
/// embeddings, which are few.
static bool reachesAttention(Value value) {
  constexpr size_t kMostOps = 64;
  llvm::SmallSetVector<Operation *, 16> reached;
  reached.insert_range(value.getUsers());
  for (size_t i = 0; i < std::min(reached.size(), kMostOps); ++i) {
    Operation *op = reached[i];
    if (isa<AttentionOp>(op))
      return true;
    if (isView(op) || isa<ConcatOp>(op) || op->hasTrait<Elementwise>())
      reached.insert_range(op->getUsers());
  }
  return false;
}

/// Elementwise ops that use the result directly are part of its group, which a merge would undo.
static bool hasOnlyViews(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), isView) && isReadInPlace(value) &&
         reachesAttention(value);
}

static std::optional<Member> memberOf(MatmulOp product, const WeightValues &weights) {
  auto type = cast<RankedTensorType>(product.getOutput().getType());
  if (type.getRank() != 2 || weights.contains(product.getLhs()) ||
      !weights.contains(product.getRhs()) ||
      type.getDimSize(1) * type.getElementTypeBitWidth() % kAlignedBits != 0)
    return std::nullopt;
  Member member = {product, {}, {}};
  if (product.getOutput().hasOneUse())
    if (auto sum = dyn_cast<AddOp>(*product.getOutput().user_begin())) {
      Value other = sum.getLhs() == product.getOutput() ? sum.getRhs() : sum.getLhs();
      bool isRow = cast<RankedTensorType>(other.getType()).getShape() ==
                   ArrayRef<int64_t>({1, type.getDimSize(1)});
      if (weights.contains(other) && isRow)
        member = {product, sum, other};
    }
  return hasOnlyViews(member.result()) ? std::optional(member) : std::nullopt;
}

static Value concatenateColumns(OpBuilder &builder, Location loc, ValueRange matrices) {
  auto first = cast<RankedTensorType>(matrices[0].getType());
  int64_t columns = 0;
  for (Value each : matrices)
    columns += cast<RankedTensorType>(each.getType()).getDimSize(1);
  return ConcatOp::create(builder, loc, withShape(first, {first.getDimSize(0), columns}), matrices,
                          /*dim=*/1);
}

/// Replaces the results of `members` by slices of one product.
static void merge(ArrayRef<Member> members) {
  MatmulOp first = members[0].product;
  OpBuilder builder(first);
  SmallVector<Location> locations;
  SmallVector<Value> factors, biases;
  for (Member member : members) {
    locations.push_back(member.product.getLoc());
    factors.push_back(member.product.getRhs());
    if (member.bias)
      biases.push_back(member.bias);
  }
  Location loc = builder.getFusedLoc(locations);
  Value factor = concatenateColumns(builder, loc, factors);
  int64_t rows = cast<RankedTensorType>(first.getOutput().getType()).getDimSize(0),
          columns = cast<RankedTensorType>(factor.getType()).getDimSize(1);
  Type type = withShape(first.getOutput().getType(), {rows, columns});
  Value all = MatmulOp::create(builder, loc, type, first.getLhs(), factor);
  if (!biases.empty())
    all = AddOp::create(builder, loc, type, all, concatenateColumns(builder, loc, biases));
  int64_t start = 0;
  for (Member member : members) {
    Value result = member.result();
    int64_t width = cast<RankedTensorType>(result.getType()).getDimSize(1);
    auto slice = SliceOp::create(builder, member.product.getLoc(), result.getType(), all,
                                 ArrayRef<int64_t>{0, start}, ArrayRef<int64_t>{rows, width},
                                 ArrayRef<int64_t>{1, 1});
    result.replaceAllUsesWith(slice.getOutput());
    start += width;
  }
  for (Member member : members) {
    if (member.sum)
      member.sum.erase();
    member.product.erase();
  }
}

void TcpMergeProductsPass::runOnStaticShapes() {
  WeightValues weights(getOperation());
  SmallVector<Block *> changed;
  getOperation().walk([&](Block *block) {
    // Products with a bias and those without are merged separately.
    llvm::MapVector<std::pair<Value, unsigned>, SmallVector<Member>> byFactor;
    for (auto product : block->getOps<MatmulOp>())
      if (std::optional<Member> member = memberOf(product, weights))
        byFactor[{product.getLhs(), member->bias ? 1 : 0}].push_back(*member);
    for (auto &[factor, members] : byFactor)
      if (members.size() > 1) {
        merge(members);
        changed.push_back(block);
      }
  });
  // Weights of later products may be computed after the first one.
  for (Block *block : changed)
    sortTopologically(block);
}
