// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/tcp_to_linalg/LinalgUtils.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace convoy {

Type elementTypeOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

bool isCuda(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function && tcp::getTarget(function) == tcp::Target::Cuda;
}

Type computeType(Type elementType) {
  auto type = dyn_cast<FloatType>(elementType);
  return type && type.getWidth() < 32 ? Float32Type::get(type.getContext()) : elementType;
}

Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  auto contract =
      arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::contract);
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value, contract);
  return arith::TruncFOp::create(builder, loc, type, value, /*roundingmode=*/nullptr, contract);
}

void allowApproximation(Operation *op, Block *body, Type elementType) {
  bool isNarrow = computeType(elementType) != elementType || op->hasAttr(kNarrowAttr);
  if (!isCuda(op) || !isNarrow)
    return;
  for (Operation &inner : *body)
    if (isa<arith::DivFOp, math::ExpOp, math::ExpM1Op, math::TanhOp, math::ErfOp, math::LogOp,
            math::PowFOp>(inner))
      inner.setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(inner.getContext(), arith::FastMathFlags::afn));
}

Value scalarConstant(OpBuilder &builder, Location loc, Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value lowestOf(OpBuilder &builder, Location loc, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(type,
                             APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/true)));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt lowest = width == 1 ? APInt::getZero(1) : APInt::getSignedMinValue(width);
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, lowest));
}

Value filled(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Value value) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, value.getType());
  return linalg::FillOp::create(builder, loc, value, empty).getResult(0);
}

Value insertAlong(OpBuilder &builder, Location loc, Value part, Value whole, int64_t dim,
                  int64_t offset) {
  ArrayRef<int64_t> shape = tcp::shapeOf(part);
  SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
      strides(shape.size(), builder.getIndexAttr(1));
  offsets[dim] = builder.getIndexAttr(offset);
  return tensor::InsertSliceOp::create(builder, loc, part, whole, offsets,
                                       getAsIndexOpFoldResult(builder.getContext(), shape),
                                       strides);
}

AffineMap broadcastMap(MLIRContext *context, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> resultShape) {
  SmallVector<AffineExpr> results;
  for (auto [i, dim] : llvm::enumerate(shape))
    results.push_back(dim == 1 && resultShape[i] != 1 ? getAffineConstantExpr(0, context)
                                                      : getAffineDimExpr(i, context));
  return AffineMap::get(resultShape.size(), 0, results, context);
}

Value parallelGeneric(OpBuilder &builder, Location loc, RankedTensorType resultType,
                      ValueRange inputs, ArrayRef<AffineMap> inputMaps, ScalarBody body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(resultType.getRank()));
  SmallVector<utils::IteratorType> iterators(resultType.getRank(), utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(builder, loc, resultType.getShape(), resultType.getElementType());
  return linalg::GenericOp::create(
             builder, loc, TypeRange(resultType), inputs, ValueRange(empty), maps, iterators,
             [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
               linalg::YieldOp::create(inner, innerLoc, body(inner, innerLoc, args.drop_back()));
             })
      .getResult(0);
}

Value broadcastGeneric(OpBuilder &builder, Location loc, RankedTensorType resultType,
                       ValueRange inputs, ScalarBody body) {
  SmallVector<AffineMap> maps = llvm::map_to_vector(inputs, [&](Value input) {
    return broadcastMap(builder.getContext(), shapeOf(input), resultType.getShape());
  });
  return parallelGeneric(builder, loc, resultType, inputs, maps, body);
}

Value reductionGeneric(OpBuilder &builder, Location loc, Value init, ValueRange inputs,
                       ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                       ScalarBody body) {
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), inputs, ValueRange(init), maps, iterators,
             [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
               linalg::YieldOp::create(inner, innerLoc, body(inner, innerLoc, args));
             })
      .getResult(0);
}

Value convertElements(OpBuilder &builder, Location loc, Value value, Type elementType) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return broadcastGeneric(builder, loc, type.clone(elementType), value,
                          [&](OpBuilder &inner, Location innerLoc, ValueRange args) {
                            return convertFloat(inner, innerLoc, args[0], elementType);
                          });
}

Value productOperand(OpBuilder &builder, Location loc, Value value, bool cuda) {
  return cuda ? value : convertElements(builder, loc, value, computeType(elementTypeOf(value)));
}

Value reshapeTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(value.getType());
  RankedTensorType to = from.clone(shape);
  if (from == to)
    return value;
  if (from.getRank() != to.getRank()) {
    if (std::optional<SmallVector<ReassociationIndices>> groups =
            getReassociationIndicesForReshape(from, to)) {
      if (from.getRank() > to.getRank())
        return tensor::CollapseShapeOp::create(builder, loc, to, value, *groups);
      return tensor::ExpandShapeOp::create(builder, loc, to, value, *groups);
    }
  }
  // Collapse to one dim, then expand.
  auto all = [](int64_t rank) {
    return rank ? SmallVector<ReassociationIndices>{llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))}
                : SmallVector<ReassociationIndices>{};
  };
  RankedTensorType flat = from.clone({from.getNumElements()});
  if (from.getRank() != 1)
    value =
        from.getRank()
            ? Value(tensor::CollapseShapeOp::create(builder, loc, flat, value, all(from.getRank())))
            : Value(tensor::ExpandShapeOp::create(builder, loc, flat, value, all(0)));
  if (to.getRank() == 1)
    return value;
  return to.getRank()
             ? Value(tensor::ExpandShapeOp::create(builder, loc, to, value, all(to.getRank())))
             : Value(tensor::CollapseShapeOp::create(builder, loc, to, value, all(0)));
}

Value transposed(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(value.getType());
  // Loops iterate over the result, so the input's dim perm[i] is loop i.
  SmallVector<AffineExpr> results(perm.size());
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(perm)) {
    results[dim] = builder.getAffineDimExpr(i);
    shape.push_back(type.getDimSize(dim));
  }
  AffineMap map = AffineMap::get(perm.size(), 0, results, builder.getContext());
  return parallelGeneric(builder, loc, type.clone(shape), value, map,
                         [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value padded(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> low,
             ArrayRef<int64_t> high, Value padding, bool cuda) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, size] : llvm::enumerate(shape))
    size += low[i] + high[i];
  if (llvm::equal(shape, type.getShape()))
    return value;
  if (!cuda) {
    auto attrs = [&](ArrayRef<int64_t> values) {
      return getAsIndexOpFoldResult(builder.getContext(), values);
    };
    SmallVector<OpFoldResult> ones = attrs(SmallVector<int64_t>(shape.size(), 1));
    Value result = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
    // The faces of the border, those of outer dims first. Filling all would write the inside twice.
    SmallVector<int64_t> start(shape.size(), 0), sizes = shape;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      for (auto [from, count] :
           {std::pair(int64_t(0), low[i]), std::pair(low[i] + size, high[i])}) {
        if (count == 0)
          continue;
        start[i] = from, sizes[i] = count;
        Value face =
            tensor::ExtractSliceOp::create(builder, loc, result, attrs(start), attrs(sizes), ones);
        face = linalg::FillOp::create(builder, loc, padding, face).getResult(0);
        result = tensor::InsertSliceOp::create(builder, loc, face, result, attrs(start),
                                               attrs(sizes), ones);
      }
      start[i] = low[i], sizes[i] = size;
    }
    return tensor::InsertSliceOp::create(builder, loc, value, result, attrs(low),
                                         attrs(type.getShape()), ones);
  }
  return parallelGeneric(
      builder, loc, type.clone(shape), {}, {},
      [&](OpBuilder &inner, Location innerLoc, ValueRange) {
        Value inside;
        SmallVector<Value> indices;
        for (auto [i, size] : llvm::enumerate(type.getShape())) {
          Value index = linalg::IndexOp::create(inner, innerLoc, i);
          if (shape[i] != size) {
            Value last = arith::ConstantIndexOp::create(inner, innerLoc, size - 1);
            Value zero = arith::ConstantIndexOp::create(inner, innerLoc, 0);
            index = arith::SubIOp::create(inner, innerLoc, index,
                                          arith::ConstantIndexOp::create(inner, innerLoc, low[i]));
            // A negative index is large as an unsigned number.
            Value holds =
                arith::CmpIOp::create(inner, innerLoc, arith::CmpIPredicate::ule, index, last);
            inside = inside ? arith::AndIOp::create(inner, innerLoc, inside, holds) : holds;
            index = arith::MaxSIOp::create(
                inner, innerLoc, arith::MinSIOp::create(inner, innerLoc, index, last), zero);
          }
          indices.push_back(index);
        }
        Value element = tensor::ExtractOp::create(inner, innerLoc, value, indices);
        return arith::SelectOp::create(inner, innerLoc, inside, element, padding);
      });
}

} // namespace convoy
