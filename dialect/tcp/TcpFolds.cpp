// Folders of the tcp ops: what is the same value, whatever the operands are.

#include "dialect/tcp/TcpOps.h"

using namespace mlir;
using namespace convoy::tcp;

OpFoldResult CastOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : OpFoldResult(); }

OpFoldResult BroadcastOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? getInput() : OpFoldResult(); }

OpFoldResult ClampOp::fold(FoldAdaptor) {
  // The same clamp twice is one.
  auto inner = getInput().getDefiningOp<ClampOp>();
  return inner && inner.getMinFloatAttr() == getMinFloatAttr() && inner.getMaxFloatAttr() == getMaxFloatAttr() ? getInput()
                                                                                                               : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()))
    return constant.reshape(getType());
  // A reshape of a reshape needs only the last shape.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())))
    return getInput();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()); constant && constant.isSplat())
    return constant.resizeSplat(getType());
  // Two permutations are one.
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm = llvm::map_to_vector(getPerm(), [&](int64_t dim) { return inner.getPerm()[dim]; });
    setPerm(perm);
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return {};
}
