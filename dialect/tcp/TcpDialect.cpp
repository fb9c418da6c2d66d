// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registers the ops of the tcp dialect, and verifies its discardable attributes.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpSteps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace convoy::tcp;

#include "dialect/tcp/TcpDialect.cpp.inc"
#include "dialect/tcp/TcpEnums.cpp.inc"

void TcpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/tcp/TcpOps.cpp.inc"
      >();
}

Operation *TcpDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

std::optional<Target> convoy::tcp::getTarget(Operation *op) {
  auto target = op->getAttrOfType<StringAttr>(kTargetAttr);
  return target ? symbolizeTarget(target.getValue()) : std::nullopt;
}

void convoy::tcp::setTarget(Operation *op, Target target) {
  op->setAttr(kTargetAttr, StringAttr::get(op->getContext(), stringifyTarget(target)));
}

bool convoy::tcp::hasTensorSize(ShapedType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape()) {
    // Count a dim of 0 or `?` as 1, so that sums over the other dims fit as well.
    int64_t counted = std::max<int64_t>(size, 1);
    if (counted > kMaxElements / elements)
      return false;
    elements *= counted;
  }
  return true;
}

/// Checks that an attribute of the dialect is a string or a unit, depending on its name. Accepts
/// all other attributes.
static LogicalResult verifyKind(Operation *op, NamedAttribute attribute) {
  static constexpr StringRef kStrings[] = {kTargetAttr,   kInputAttr,  kWeightAttr,
                                           kPreparedAttr, kOutputAttr, kOriginAttr};
  if (llvm::is_contained(kStrings, attribute.getName()) && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("expects '") << attribute.getName().getValue()
                                        << "' to be a string, but got " << attribute.getValue();
  static constexpr StringRef kIntegers[] = {kLiveBytesAttr, kArenaOffsetAttr};
  if (llvm::is_contained(kIntegers, attribute.getName()) && !isa<IntegerAttr>(attribute.getValue()))
    return op->emitOpError("expects '") << attribute.getName().getValue()
                                        << "' to be an integer, but got " << attribute.getValue();
  static constexpr StringRef kUnits[] = {kArenaAttr, kUnsignedAttr};
  if (llvm::is_contained(kUnits, attribute.getName()) && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("expects '")
           << attribute.getName().getValue() << "' to be a unit attribute, but got "
           << attribute.getValue();
  return success();
}

/// Checks `tcp.dim_order` of an argument or result, which `what` and `index` name.
static LogicalResult verifyDimOrder(Operation *op, NamedAttribute attribute, StringRef what,
                                    unsigned index, TypeRange types, DictionaryAttr others) {
  if (attribute.getName() != kDimOrderAttr)
    return success();
  auto refuse = [&](const Twine &expected) {
    return op->emitOpError("expects '")
           << kDimOrderAttr << "' of " << what << " #" << index << expected << ", but got ";
  };
  auto type = dyn_cast<ShapedType>(types[index]);
  if (!type || !type.hasRank())
    return refuse(" on a tensor") << types[index];
  auto order = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (!order || static_cast<int64_t>(order.size()) != type.getRank() ||
      !isPermutationVector(order.asArrayRef()))
    return refuse(" to be an array<i64> with a permutation of the " + Twine(type.getRank()) +
                  " dims")
           << attribute.getValue();
  for (StringRef role : {kWeightAttr, kPreparedAttr, kArenaAttr})
    if (others.contains(role))
      return refuse(" on an input or a result") << "'" << role << "'";
  return success();
}

/// Checks `tcp.steps` of an argument.
static LogicalResult verifySteps(Operation *op, NamedAttribute attribute, unsigned index,
                                 TypeRange types) {
  if (attribute.getName() != kStepsAttr)
    return success();
  // Phase `llvm` has pointers.
  auto type = dyn_cast<ShapedType>(types[index]);
  bool isTable =
      !type || (type.hasRank() && type.getRank() == 1 && type.getElementType().isInteger());
  if (isTable && Steps::from(attribute.getValue()))
    return success();
  return op->emitOpError("expects '")
         << kStepsAttr << "' of argument #" << index
         << " to be array<i64: shift, divisor, last> with a positive divisor and a last number "
            "that is not negative, on integers in one dim, but got "
         << attribute.getValue() << " on " << types[index];
}

LogicalResult TcpDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyKind(op, attribute);
}

LogicalResult TcpDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                   NamedAttribute attribute) {
  if (failed(verifyKind(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  TypeRange types = function.getArgumentTypes();
  if (failed(verifySteps(op, attribute, index, types)))
    return failure();
  return verifyDimOrder(op, attribute, "argument", index, types, function.getArgAttrDict(index));
}

LogicalResult TcpDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                      NamedAttribute attribute) {
  if (failed(verifyKind(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return success(!function ||
                 succeeded(verifyDimOrder(op, attribute, "result", index, function.getResultTypes(),
                                          function.getResultAttrDict(index))));
}
