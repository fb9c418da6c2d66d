// Registers the tcp dialect's ops.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace convoy::tcp;

#include "dialect/tcp/TcpDialect.cpp.inc"

void TcpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/tcp/TcpOps.cpp.inc"
      >();
}

Operation *TcpDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
