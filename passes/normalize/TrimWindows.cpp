// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Drops the outer taps of a convolution's window that read only padding, as those of a dilation
// that is larger than the image.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPTRIMWINDOWSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TrimWindowsPass : public convoy::impl::TcpTrimWindowsPassBase<TrimWindowsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// One spatial dim of a convolution.
struct WindowDim {
  int64_t size, outputs, taps; ///< of the input, the output and the window
  int64_t stride, dilation, low;

  /// Whether an output reads an element of the input at `tap`, rather than padding.
  bool readsInput(int64_t tap) const {
    for (int64_t output = 0; output < outputs; ++output)
      if (int64_t at = output * stride + tap * dilation - low; at >= 0 && at < size)
        return true;
    return false;
  }
};

} // namespace

static void trim(ConvOpInterface op) {
  int64_t rank = op.getSpatialRank(), first = op.getChannelsLast() ? 1 : 2;
  ArrayRef<int64_t> image = shapeOf(op.getInput()), result = shapeOf(op.getOutput()),
                    weights = shapeOf(op.getWeights());
  SmallVector<int64_t> starts(rank + 2, 0), sizes(weights), pad(op.getPad());
  for (int64_t i = 0; i < rank; ++i) {
    int64_t at = first + i, &low = pad[2 * i], &high = pad[2 * i + 1];
    WindowDim dim{image[at], result[at], weights[at], op.getStride()[i], op.getDilation()[i], low};
    int64_t begin = 0, end = dim.taps;
    // Padding stays at least zero.
    while (end - begin > 1 && low >= dim.dilation && !dim.readsInput(begin)) {
      ++begin;
      low -= dim.dilation;
    }
    while (end - begin > 1 && high >= dim.dilation && !dim.readsInput(end - 1)) {
      --end;
      high -= dim.dilation;
    }
    starts[at] = begin;
    sizes[at] = end - begin;
  }
  if (ArrayRef(sizes) == weights)
    return;
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getWeights().getType());
  op->setOperand(1, SliceOp::create(builder, op.getLoc(), withShape(type, sizes), op.getWeights(),
                                    starts, sizes, SmallVector<int64_t>(rank + 2, 1)));
  op->setAttr("pad", builder.getDenseI64ArrayAttr(pad));
}

void TrimWindowsPass::runOnStaticShapes() {
  getOperation().walk([&](ConvOpInterface op) {
    // A group in the input becomes one graph as it is.
    if (!isa<IsolatedGroupOp>(op->getParentOp()))
      trim(op);
  });
}
