// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pads channel counts for which cuDNN has no fast kernel, with zeros in both the input and the
// weights.

#include "passes/Passes.h"
#include "passes/common/Stem.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPPADCHANNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// Number of input channels of a convolution without groups, and the number to pad to.
struct PaddedChannels {
  int64_t from, to;
};

/// Stem of ResNet-50, 256 images in f16 on an H200: 553 us with 3 channels, 403 us with 4, 1223 us
/// with 8 (benchmarks/NOTES.md).
constexpr PaddedChannels kPaddedChannels[] = {{3, 4}};

struct PadChannelsPass : public convoy::impl::TcpPadChannelsPassBase<PadChannelsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// Pads the last dim of `value` with zeros to `channels`.
static Value padLastDim(OpBuilder &builder, Location loc, Value value, int64_t channels) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> none(type.getRank()), high(type.getRank()), shape(type.getShape());
  high.back() = channels - shape.back();
  shape.back() = channels;
  return PadOp::create(builder, loc, withShape(type, shape), value, none, high, none, APFloat(0.0));
}

/// Whether `conv` becomes part of a stem, whose kernel pads channels itself: two ops, bias and
/// relu, are between it and the pooling.
static bool startsStem(ConvOpInterface conv, bool allowTf32) {
  Value value = conv.getOutput();
  for (int64_t step = 0; step < 3; ++step) {
    if (!value.hasOneUse())
      return false;
    Operation *user = *value.user_begin();
    std::string reason;
    if (auto pool = dyn_cast<MaxPoolOp>(user))
      return matchStem(pool, allowTf32, reason).has_value();
    if (user->getNumResults() != 1)
      return false;
    value = user->getResult(0);
  }
  return false;
}

void PadChannelsPass::runOnStaticShapes() {
  getOperation().walk([&](ConvOpInterface op) {
    // A group in the input becomes one graph as it is.
    if (isa<IsolatedGroupOp>(op->getParentOp()))
      return;
    auto element = getElementTypeOrSelf(op.getInput().getType());
    if (!op.getChannelsLast() || op.getGroups() != 1 ||
        !(element.isF32() || element.isF16() || element.isBF16()))
      return;
    if (startsStem(op, allowTf32))
      return;
    int64_t channels = cast<RankedTensorType>(op.getInput().getType()).getShape().back();
    const auto *found = llvm::find_if(kPaddedChannels,
                                      [&](PaddedChannels entry) { return entry.from == channels; });
    if (found == std::end(kPaddedChannels))
      return;
    OpBuilder builder(op);
    op->setOperand(0, padLastDim(builder, op.getLoc(), op.getInput(), found->to));
    op->setOperand(1, padLastDim(builder, op.getLoc(), op.getWeights(), found->to));
  });
}
