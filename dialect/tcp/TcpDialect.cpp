// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registers the ops of the tcp dialect, and verifies its discardable attributes.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Builders.h"

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
    // Count a dim of 0 as 1, so that sums over the other dims fit as well.
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
  static constexpr StringRef kStrings[] = {kTargetAttr, kInputAttr, kWeightAttr, kPreparedAttr,
                                           kOutputAttr};
  if (llvm::is_contained(kStrings, attribute.getName()) && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("expects '") << attribute.getName().getValue()
                                        << "' to be a string, but got " << attribute.getValue();
  if (attribute.getName() == kArenaAttr && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("expects '")
           << attribute.getName().getValue() << "' to be a unit attribute, but got "
           << attribute.getValue();
  return success();
}

LogicalResult TcpDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyKind(op, attribute);
}

LogicalResult TcpDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                   NamedAttribute attribute) {
  return verifyKind(op, attribute);
}

LogicalResult TcpDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                      NamedAttribute attribute) {
  return verifyKind(op, attribute);
}
