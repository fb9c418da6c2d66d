// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the ops that declare and use symbols. Each check has the label of its constraint in
// the op's description.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace convoy::tcp;

std::string SymbolicIntOp::getRangeText() {
  std::string text = std::to_string(getMinVal()) + " to " + std::to_string(getMaxVal());
  if (getDivisor() != 1)
    text += ", a multiple of " + std::to_string(getDivisor());
  return text;
}

static bool isIdentifier(StringRef name) {
  auto isPart = [](char each) { return llvm::isAlnum(each) || each == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isPart);
}

LogicalResult SymbolicIntOp::verify() {
  // symbolic_int_c1
  if (!isIdentifier(getSymbolName()))
    return emitOpError("expects an identifier as name, but got ") << getSymbolNameAttr();
  // symbolic_int_c2
  int64_t least = getMinVal(), most = getMaxVal(), divisor = getDivisor();
  if (least < 0 || least > most)
    return emitOpError("expects 0 <= min_val <= max_val, but got ") << least << " and " << most;
  // symbolic_int_c3
  if (divisor < 1)
    return emitOpError("expects a positive 'divisor', but got ") << divisor;
  if (most / divisor * divisor < least)
    return emitOpError("expects a multiple of ")
           << divisor << " from " << least << " to " << most << ", but there is none";
  // symbolic_int_c4
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError("expects the body of a function around it, but got '")
           << (*this)->getParentOp()->getName() << "'";
  for (auto other : (*this)->getBlock()->getOps<SymbolicIntOp>())
    if (other != *this && other.getSymbolName() == getSymbolName()) {
      InFlightDiagnostic diag = emitOpError("expects a name that no other symbol has, but got ")
                                << getSymbolNameAttr();
      diag.attachNote(other.getLoc()) << "the other symbol is here";
      return diag;
    }
  return success();
}

LogicalResult BindSymbolicShapeOp::verify() {
  // bind_symbolic_shape_c1
  for (Value symbol : getShapeSymbols())
    if (!symbol.getDefiningOp<SymbolicIntOp>())
      return emitOpError("expects symbols that are results of 'tcp.symbolic_int', but got '")
             << symbol << "'";
  // bind_symbolic_shape_c2
  AffineMap map = getShapeExpressions();
  if (map.getNumDims() != 0 || map.getNumSymbols() != getShapeSymbols().size())
    return emitOpError("expects a map with ")
           << getShapeSymbols().size() << " symbols and no dims, but got "
           << getShapeExpressionsAttr();
  // bind_symbolic_shape_c3
  ArrayRef<int64_t> shape = getOperand().getType().getShape();
  if (map.getNumResults() != shape.size())
    return emitOpError("expects a map with ")
           << shape.size() << " results, one for each dim, but got " << getShapeExpressionsAttr();
  // bind_symbolic_shape_c4
  for (auto [i, size, expression] : llvm::enumerate(shape, map.getResults()))
    if (auto constant = dyn_cast<AffineConstantExpr>(expression);
        ShapedType::isStatic(size) && (!constant || constant.getValue() != size))
      return emitOpError("expects ") << size << ", the size of dim " << i << ", as result " << i
                                     << " of the map, but got " << getShapeExpressionsAttr();
  // bind_symbolic_shape_c5
  for (Operation *user : getOperand().getUsers())
    if (user != *this && isa<BindSymbolicShapeOp>(user)) {
      InFlightDiagnostic diag = emitOpError("expects an operand without another shape");
      diag.attachNote(user->getLoc()) << "the other shape is here";
      return diag;
    }
  return success();
}
