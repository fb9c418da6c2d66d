// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts transposed convolutions to convolutions, so that later passes handle only one kind.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/Weights.h"

namespace convoy {
#define GEN_PASS_DEF_TCPDECOMPOSECONVTRANSPOSEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct DecomposeConvTransposePass
    : public convoy::impl::TcpDecomposeConvTransposePassBase<DecomposeConvTransposePass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// Converts the weights C x K/groups x window of a transposed convolution to the weights K x
/// C/groups x window of a convolution, with a reversed window.
static Value plainWeights(OpBuilder &builder, ConvTransposeOp op) {
  Value weights = op.getWeights();
  RankedTensorType type = op.getWeights().getType();
  int64_t groups = op.getGroups(), inputs = type.getDimSize(0) / groups,
          outputs = type.getDimSize(1), rank = type.getRank();
  ArrayRef<int64_t> window = type.getShape().drop_front(2);
  auto shape = [&](ArrayRef<int64_t> front) {
    SmallVector<int64_t> dims(front);
    llvm::append_range(dims, window);
    return withShape(type, dims);
  };
  weights = ReshapeOp::create(builder, op.getLoc(), shape({groups, inputs, outputs}), weights);
  SmallVector<int64_t> perm = {0, 2, 1};
  llvm::append_range(perm, llvm::seq<int64_t>(3, rank + 1));
  weights =
      TransposeOp::create(builder, op.getLoc(), shape({groups, outputs, inputs}), weights, perm);
  weights = ReshapeOp::create(builder, op.getLoc(), shape({groups * outputs, inputs}), weights);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  return ReverseOp::create(builder, op.getLoc(), weights.getType(), weights, dims);
}

/// y = conv(x with stride - 1 zeros between neighbors, padded by dilation * (window - 1) - pad);
/// negative padding crops.
static Value plainConv(OpBuilder &builder, ConvTransposeOp op) {
  RankedTensorType type = op.getInput().getType();
  int64_t spatialRank = op.getStride().size();
  SmallVector<int64_t> low(type.getRank()), high(type.getRank()), interior(type.getRank()),
      shape(type.getShape()), pad;
  for (int64_t i = 0; i < spatialRank; ++i) {
    int64_t reach = op.getDilation()[i] * (op.getWeights().getType().getDimSize(i + 2) - 1);
    int64_t before = reach - op.getPad()[2 * i],
            after = reach - op.getPad()[2 * i + 1] + op.getOutputPad()[i];
    interior[i + 2] = op.getStride()[i] - 1;
    // The convolution can pad, but not crop.
    low[i + 2] = std::min<int64_t>(before, 0);
    high[i + 2] = std::min<int64_t>(after, 0);
    pad.append({std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)});
    shape[i + 2] += (shape[i + 2] - 1) * interior[i + 2] + low[i + 2] + high[i + 2];
  }
  Value input = PadOp::create(builder, op.getLoc(), withShape(type, shape), op.getInput(), low,
                              high, interior, APFloat(0.0));
  Value weights = plainWeights(builder, op);
  SmallVector<int64_t> stride(spatialRank, 1);
  auto conv = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, op.getLoc(), op.getType(), input, weights, stride, pad,
                                 op.getDilation(), op.getGroups(), false);
  };
  return spatialRank == 1   ? conv(Conv1dOp())
         : spatialRank == 2 ? conv(Conv2dOp())
                            : conv(Conv3dOp());
}

void DecomposeConvTransposePass::runOnStaticShapes() {
  getOperation().walk([](ConvTransposeOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(plainConv(builder, op));
    op.erase();
  });
}
