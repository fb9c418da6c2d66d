// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/DilatedConv.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/normalize/Weights.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

std::optional<DilatedConv> DilatedConv::match(ConvOpInterface conv) {
  auto transpose = conv.getInput().getDefiningOp<TransposeOp>();
  auto pad = (transpose ? transpose.getInput() : conv.getInput()).getDefiningOp<PadOp>();
  auto isOne = [](int64_t value) { return value == 1; };
  if (!pad || !pad.getValue().isZero() || !conv.getChannelsLast() || conv.getGroups() != 1 ||
      isa<IsolatedGroupOp>(conv->getParentOp()) || !llvm::all_of(conv.getStride(), isOne) ||
      !llvm::all_of(conv.getDilation(), isOne))
    return std::nullopt;
  DilatedConv result;
  result.conv = conv;
  result.source = pad.getInput();
  result.perm = transpose ? SmallVector<int64_t>(transpose.getPerm())
                          : llvm::to_vector(llvm::seq<int64_t>(0, pad.getLow().size()));
  auto ordered = [&](ArrayRef<int64_t> each) { return applyPermutation(each, result.perm); };
  result.shape = ordered(shapeOf(result.source));
  SmallVector<int64_t> low = ordered(pad.getLow()), high = ordered(pad.getHigh()),
                       interior = ordered(pad.getInterior());
  for (size_t dim : {size_t(0), low.size() - 1})
    if (low[dim] != 0 || high[dim] != 0 || interior[dim] != 0)
      return std::nullopt;
  if (llvm::all_of(interior, [](int64_t zeros) { return zeros == 0; }))
    return std::nullopt;
  for (int64_t i = 0; i < conv.getSpatialRank(); ++i) {
    int64_t own = conv.getPad()[2 * i], ownHigh = conv.getPad()[2 * i + 1];
    // Zeros around what was cropped.
    if ((low[i + 1] < 0 && own != 0) || (high[i + 1] < 0 && ownHigh != 0))
      return std::nullopt;
    result.dims.push_back({result.shape[i + 1],
                           shapeOf(conv.getOutput())[i + 1],
                           shapeOf(conv.getWeights())[i + 1],
                           interior[i + 1] + 1,
                           low[i + 1] + own,
                           {},
                           {}});
    SpatialDim &dim = result.dims.back();
    for (int64_t r = 0; r < dim.stride; ++r) {
      dim.first.push_back(llvm::divideCeilSigned(r - dim.before, dim.stride));
      dim.start.push_back(dim.first.back() * dim.stride - (r - dim.before));
    }
  }
  return result;
}

Value DilatedConv::input(OpBuilder &builder) const {
  if (isIdentityPermutation(perm))
    return source;
  return TransposeOp::create(builder, source.getLoc(), withShape(source.getType(), shape), source,
                             perm);
}
