// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds tcp ops that cannot be lowered to linalg. Checked before the conversion, so that every such
// op is reported with its reason.

#include "dialect/tcp/TcpOps.h"
#include "passes/tcp_to_linalg/Patterns.h"

using namespace mlir;
using namespace convoy;

template <typename... Parts> static std::string message(Parts &&...parts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (os << ... << parts);
  return text;
}

static bool isSupportedElement(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  return type.isSignlessInteger() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth());
}

std::string convoy::whyUnsupported(Operation *op) {
  auto types = llvm::to_vector(llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                                  llvm::to_vector(op->getResultTypes())));
  for (Type type : types)
    if (Type element = getElementTypeOrSelf(type); !isSupportedElement(element))
      return message(
          "expected elements of type f16, bf16, f32, f64, i1, i8, i16, i32 or i64, but got ",
          element);
  if (op->getNumOperands() == 0)
    return {};
  if (isa<tcp::AttentionOp>(op))
    return "expected attention in a group, or tcp-decompose-attention before";

  Type type = getElementTypeOrSelf(op->getOperand(0));
  if (type.isInteger(1) && isa<tcp::NegOp, tcp::SubOp, tcp::DivOp, tcp::PowOp, tcp::GcdOp,
                               tcp::ShiftLeftOp, tcp::ShiftRightOp, tcp::ReduceSumOp>(op))
    return message("expected numeric elements, but got ", type);
  if (isa<IntegerType>(type) && isa<tcp::ReduceMeanOp>(op))
    return message("expected elements of a float type, but got ", type);
  return {};
}
