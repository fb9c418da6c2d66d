// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Splits products of gated layers, whose result has the gates beside what they multiply, so that
// the epilogues of two products compute the layer.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSPLITGATESPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpSplitGatesPass : public convoy::impl::TcpSplitGatesPassBase<TcpSplitGatesPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// A product with a weight, its sum with a bias, if any, and the slices of its halves.
struct Gated {
  MatmulOp product;
  AddOp sum;
  Value bias;
  SmallVector<SliceOp, 2> halves; ///< in the order of columns
};

} // namespace

/// The rows of the kernels' operands are aligned to 16 bytes.
static constexpr int64_t kAlignedBits = 128;

/// The one multiplication that reads `value`, possibly through functions of one number.
static MulOp multiplicationOf(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto mul = dyn_cast<MulOp>(user))
      return mul;
    if (!user->hasTrait<convoy::tcp::Elementwise>() || user->getNumOperands() != 1)
      return nullptr;
    value = user->getResult(0);
  }
  return nullptr;
}

/// The slices of `value` that have half of the columns each and are multiplied, or none.
static SmallVector<SliceOp, 2> halvesOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> half(shape);
  half.back() /= 2;
  SmallVector<SliceOp, 2> halves;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getSizes() != ArrayRef<int64_t>(half) || slice.getStrides().back() != 1)
      return {};
    halves.push_back(slice);
  }
  llvm::sort(halves,
             [](SliceOp a, SliceOp b) { return a.getStarts().back() < b.getStarts().back(); });
  bool isSplit = halves.size() == 2 && halves[0].getStarts().back() == 0 &&
                 halves[1].getStarts().back() == half.back() && 2 * half.back() == shape.back();
  if (!isSplit)
    return {};
  MulOp gate = multiplicationOf(halves[0].getOutput());
  return gate && gate == multiplicationOf(halves[1].getOutput()) ? halves
                                                                 : SmallVector<SliceOp, 2>();
}

static std::optional<Gated> gatedOf(MatmulOp product, const WeightValues &weights) {
  Gated gated = {product, {}, {}, {}};
  auto isUnit = [](int64_t size) { return size == 1; };
  RankedTensorType type = product.getOutput().getType();
  if (weights.contains(product.getLhs()) || !weights.contains(product.getRhs()) ||
      !llvm::all_of(shapeOf(product.getRhs()).drop_back(2), isUnit) ||
      type.getShape().back() / 2 * type.getElementTypeBitWidth() % kAlignedBits != 0)
    return std::nullopt;
  if (product.getOutput().hasOneUse())
    if (auto sum = dyn_cast<AddOp>(*product.getOutput().user_begin())) {
      Value other = sum.getLhs() == product.getOutput() ? sum.getRhs() : sum.getLhs();
      if (!weights.contains(other) || !llvm::all_of(shapeOf(other).drop_back(), isUnit) ||
          shapeOf(other).back() != type.getShape().back())
        return std::nullopt;
      gated.sum = sum;
      gated.bias = other;
    }
  gated.halves = halvesOf(gated.sum ? gated.sum.getOutput() : product.getOutput());
  return gated.halves.empty() ? std::nullopt : std::optional(gated);
}

/// The columns of `value` from `start` that `like` has.
static Value columnsOf(OpBuilder &builder, Location loc, Value value, int64_t start, Value like) {
  SmallVector<int64_t> shape(shapeOf(value)), starts(shape.size(), 0), strides(shape.size(), 1);
  shape.back() = shapeOf(like).back();
  starts.back() = start;
  return SliceOp::create(builder, loc, withShape(value.getType(), shape), value, starts, shape,
                         strides);
}

static void split(Gated gated) {
  for (SliceOp half : gated.halves) {
    OpBuilder builder(half);
    Location loc = gated.product.getLoc();
    int64_t start = half.getStarts().back();
    Value factor = columnsOf(builder, loc, gated.product.getRhs(), start, half.getOutput());
    Type type = half.getOutput().getType();
    Value result = MatmulOp::create(builder, loc, type, gated.product.getLhs(), factor);
    if (gated.sum)
      result = AddOp::create(builder, gated.sum.getLoc(), type, result,
                             columnsOf(builder, loc, gated.bias, start, half.getOutput()));
    half.getOutput().replaceAllUsesWith(result);
    half.erase();
  }
  if (gated.sum)
    gated.sum.erase();
  gated.product.erase();
}

void TcpSplitGatesPass::runOnStaticShapes() {
  WeightValues weights(getOperation());
  SmallVector<Gated> found;
  getOperation().walk([&](MatmulOp product) {
    if (std::optional<Gated> gated = gatedOf(product, weights))
      found.push_back(*gated);
  });
  for (Gated &gated : found)
    split(gated);
}
