#include "passes/common/Stem.h"
#include "dialect/tcp/TcpShapes.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

SmallVector<Operation *> Stem::ops() {
  SmallVector<Operation *> list;
  if (cast)
    list.push_back(cast);
  list.append({transpose, conv, add, relu, pool});
  return list;
}

/// The op of kind `Op` that `value` is the result of, if nothing else uses it.
template <typename Op> static Op only(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
}

static bool all(ArrayRef<int64_t> numbers, int64_t value) {
  return llvm::all_of(numbers, [&](int64_t number) { return number == value; });
}

/// The ops, whatever their numbers are.
static bool findOps(Stem &stem) {
  stem.relu = only<ClampOp>(stem.pool.getInput());
  stem.add = stem.relu ? only<AddOp>(stem.relu.getInput()) : AddOp();
  stem.conv = stem.add && stem.add.getLhs().hasOneUse()
                  ? stem.add.getLhs().getDefiningOp<ConvOpInterface>()
                  : ConvOpInterface();
  stem.transpose = stem.conv ? only<TransposeOp>(stem.conv.getInput()) : TransposeOp();
  if (stem.transpose)
    stem.cast = only<CastOp>(stem.transpose.getInput());
  return stem.transpose != nullptr;
}

std::optional<Stem> matchStem(MaxPoolOp pool, bool allowTf32, std::string &reason) {
  auto refuse = [&](StringRef why) {
    reason = ("no stem: " + why).str();
    return std::nullopt;
  };
  Stem stem;
  stem.pool = pool;
  if (!findOps(stem))
    return refuse(
        "before it there is no image, transposed, in a convolution, with a vector added, and relu");
  ConvOpInterface conv = stem.conv;
  if (conv.getSpatialRank() != 2 || !conv.getChannelsLast() || conv.getGroups() != 1 ||
      !all(conv.getStride(), 2) || !all(conv.getDilation(), 1))
    return refuse("the convolution has other than two channels-last spatial dims, stride 2, no "
                  "dilation and no groups");
  ArrayRef<int64_t> w = shapeOf(conv.getWeights()), x = shapeOf(conv.getInput()),
                    y = shapeOf(conv.getOutput());
  Type element = getElementTypeOrSelf(conv.getInput().getType()),
       image = getElementTypeOrSelf(stem.image().getType());
  if (!(element.isF16() || element.isBF16() || element.isF32()) ||
      !(image == element || image.isF32()))
    return refuse("it computes in none of f16, bf16 and f32, from neither that nor f32");
  if (element.isF32() && !allowTf32)
    return refuse("its kernel rounds f32 to TF32, which allow-tf32=false forbids");
  if (w[1] != w[2] || w[1] % 2 == 0 || w[1] > 7 || !all(conv.getPad(), w[1] / 2) ||
      (w[0] != 32 && w[0] != 64) || w[3] > 4)
    return refuse("the filter is no odd square of up to 7, padded by its half, from at most 4 "
                  "channels to 32 or 64");
  if (x[1] % 4 != 0 || x[2] % 32 != 0 || x[2] > 512)
    return refuse("the image's height is no multiple of 4, or its width none of 32 up to 512");
  if (stem.transpose.getPerm() != ArrayRef<int64_t>{0, 2, 3, 1})
    return refuse("the image is not in planes");
  if (shapeOf(stem.bias()) != ArrayRef<int64_t>{1, 1, 1, y[3]} || !stem.relu.getMinFloat() ||
      !stem.relu.getMinFloat()->isZero())
    return refuse("what follows the convolution is no vector over channels, or no relu");
  if (!all(pool.getKernel(), 3) || !all(pool.getStride(), 2) || !all(pool.getPad(), 1) ||
      !all(pool.getDilation(), 1) || !pool.getChannelsLast())
    return refuse("the pooling has no windows of 3 with stride 2, padding 1 and no dilation");
  return stem;
}

std::optional<Stem> matchStemGroup(IsolatedGroupOp group, std::string &reason) {
  Block &body = group.getBody().front();
  auto pool = body.getTerminator()->getNumOperands() == 1
                  ? body.getTerminator()->getOperand(0).getDefiningOp<MaxPoolOp>()
                  : MaxPoolOp();
  if (!pool) {
    reason = "no stem: its one result is no max pooling";
    return std::nullopt;
  }
  std::optional<Stem> stem = matchStem(pool, /*allowTf32=*/true, reason);
  if (stem && stem->ops().size() != llvm::range_size(body.without_terminator())) {
    reason = "no stem: other ops beside it";
    return std::nullopt;
  }
  return stem;
}

} // namespace convoy
