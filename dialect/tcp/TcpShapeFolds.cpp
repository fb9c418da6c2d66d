// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Folders of the tcp ops that move elements, pool or reduce: identities, pairs of equal ops, and
// splat constants.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpSplats.h"

using namespace mlir;
using namespace convoy::tcp;

//===-- pooling and reductions ---------------------------------------------===//

/// Whether a pooling has a window of one element and stride 1.
template <typename PoolOp> static bool isIdentityPool(PoolOp op) {
  auto isOne = [](int64_t number) { return number == 1; };
  auto isZero = [](int64_t number) { return number == 0; };
  return op.getInput().getType() == op.getType() && llvm::all_of(op.getKernel(), isOne) &&
         llvm::all_of(op.getStride(), isOne) && llvm::all_of(op.getPad(), isZero);
}

OpFoldResult MaxPoolOp::fold(FoldAdaptor) {
  return isIdentityPool(*this) ? getInput() : OpFoldResult();
}

OpFoldResult AvgPoolOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t number) { return number == 0; };
  return isIdentityPool(*this) && llvm::all_of(getCeilPad(), isZero) &&
                 getDivisor().value_or(1) == 1
             ? getInput()
             : OpFoldResult();
}

/// Folds a reduction of dims of size 1, and a reduction of a reduction of the same kind.
template <typename ReduceOp> static OpFoldResult foldReduce(ReduceOp op) {
  auto isOne = [&](int64_t dim) { return op.getInput().getType().getDimSize(dim) == 1; };
  if (op.getInput().getType() == op.getType() && llvm::all_of(op.getDims(), isOne))
    return op.getInput();
  auto inner = op.getInput().template getDefiningOp<ReduceOp>();
  if (!inner || !inner->hasOneUse())
    return {};
  SmallVector<int64_t> dims(inner.getDims());
  llvm::append_range(dims, op.getDims());
  llvm::sort(dims);
  dims.erase(llvm::unique(dims), dims.end());
  op.setDims(dims);
  op.getInputMutable().set(inner.getInput());
  return op.getResult();
}

OpFoldResult ReduceSumOp::fold(FoldAdaptor) { return foldReduce(*this); }
OpFoldResult ReduceMeanOp::fold(FoldAdaptor) { return foldReduce(*this); }
OpFoldResult ReduceMaxOp::fold(FoldAdaptor) { return foldReduce(*this); }

//===-- shape --------------------------------------------------------------===//

/// A splat input in the result's shape, which has no `?`.
template <typename ShapeOp> static OpFoldResult foldSplat(ShapeOp op, Attribute input) {
  auto constant = splat(input);
  return constant && op.getType().hasStaticShape() ? constant.resizeSplat(op.getType())
                                                   : OpFoldResult();
}

/// The input, if it has the type of the result. Types of equal shapes differ if one has a `?` where
/// the other has a number.
template <typename ShapeOp> static OpFoldResult foldIdentity(ShapeOp op, Value input) {
  return input.getType() == op.getType() ? input : OpFoldResult();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // A broadcast of 1 does not determine a `?`, while the inner one may be bound to a shape.
  auto isKnown = [](auto dims) {
    auto [from, to] = dims;
    return from != 1 || ShapedType::isStatic(to);
  };
  if (auto inner = getInput().getDefiningOp<BroadcastOp>();
      inner &&
      llvm::all_of(llvm::zip_equal(inner.getInput().getType().getShape(), getType().getShape()),
                   isKnown)) {
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldSplat(*this, adaptor.getInput());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  // The elements determine one `?`; several may be other numbers.
  if (getInput().getType() == getType() && getType().getNumDynamicDims() < 2)
    return getInput();
  if (auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput());
      constant && getType().hasStaticShape())
    return constant.reshape(getType());
  // Merge with a preceding reshape.
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPerm(), llvm::seq<int64_t>(0, getPerm().size())))
    return foldIdentity(*this, getInput());
  // Compose with a preceding transpose.
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> perm =
        llvm::map_to_vector(getPerm(), [&](int64_t dim) { return inner.getPerm()[dim]; });
    setPerm(perm);
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldSplat(*this, adaptor.getInput());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // A slice of all elements is the identity. A `?` of both types may have other numbers, unless the
  // slice begins at 0 and ends with the dim.
  auto isWhole = [](auto dim) {
    auto [type, start, size, stride] = dim;
    return ShapedType::isStatic(type) || (start == 0 && size == kRestOfDim && stride == 1);
  };
  if (getInput().getType() == getType() &&
      llvm::all_of(
          llvm::zip_equal(getInput().getType().getShape(), getStarts(), getSizes(), getStrides()),
          isWhole))
    return getInput();
  // The rest of a slice is the rest of the inner slice's input if that slice ends with the dim too.
  auto isRestOfInput = [](auto sizes) {
    auto [size, innerSize] = sizes;
    return size != kRestOfDim || innerSize == kRestOfDim;
  };
  if (auto inner = getInput().getDefiningOp<SliceOp>();
      inner && llvm::all_of(llvm::zip_equal(getSizes(), inner.getSizes()), isRestOfInput)) {
    SmallVector<int64_t> starts, strides;
    for (auto [start, stride, innerStart, innerStride] :
         llvm::zip_equal(getStarts(), getStrides(), inner.getStarts(), inner.getStrides())) {
      starts.push_back(innerStart + start * innerStride);
      strides.push_back(stride * innerStride);
    }
    setStarts(starts);
    setStrides(strides);
    getInputMutable().set(inner.getInput());
    return getResult();
  }
  return foldSplat(*this, adaptor.getInput());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isZero = [](int64_t number) { return number == 0; };
  bool noInterior =
      llvm::all_of(llvm::zip_equal(getInterior(), getInput().getType().getShape()), [](auto pair) {
        auto [interior, size] = pair;
        return interior == 0 || (size < 2 && ShapedType::isStatic(size));
      });
  if (noInterior && llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero))
    return foldIdentity(*this, getInput());
  // A splat that is only cropped, or padded with its own value, remains a splat.
  std::optional<APFloat> value = floatSplat(adaptor.getInput());
  auto cuts = [](int64_t number) { return number <= 0; };
  bool onlyCuts = noInterior && llvm::all_of(getLow(), cuts) && llvm::all_of(getHigh(), cuts);
  if (onlyCuts || (value && value->bitwiseIsEqual(convert(getValue(), *value))))
    return foldSplat(*this, adaptor.getInput());
  return {};
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getDims(),
                   [&](int64_t dim) { return getInput().getType().getDimSize(dim) == 1; }))
    return foldIdentity(*this, getInput());
  if (auto inner = getInput().getDefiningOp<ReverseOp>(); inner && inner.getDims() == getDims())
    return foldIdentity(*this, inner.getInput());
  return foldSplat(*this, adaptor.getInput());
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return foldIdentity(*this, getInputs().front());
  auto first = splat(adaptor.getInputs().front());
  bool same =
      first && llvm::all_of(adaptor.getInputs(), [&](Attribute input) {
        auto constant = splat(input);
        return constant && constant.getSplatValue<Attribute>() == first.getSplatValue<Attribute>();
      });
  return same && getType().hasStaticShape() ? first.resizeSplat(getType()) : OpFoldResult();
}
