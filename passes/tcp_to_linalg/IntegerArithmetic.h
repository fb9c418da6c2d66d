// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integer operations that have a result for all operands, unlike those of arith.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_INTEGERARITHMETIC_H
#define CONVOY_PASSES_TCP_TO_LINALG_INTEGERARITHMETIC_H

#include "mlir/IR/Builders.h"

namespace convoy {

/// The quotient rounded toward zero. Division by zero, which processors trap or leave undefined, is
/// 0, and the smallest number divided by -1 is itself.
mlir::Value divideIntegers(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value dividend,
                           mlir::Value divisor);

/// Shifts to the left; 0 if `count` is negative or not below the number of bits.
mlir::Value shiftLeft(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                      mlir::Value count);

/// Shifts to the right and extends the sign; counts that are negative or not below the number of
/// bits leave only the sign.
mlir::Value shiftRight(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                       mlir::Value count);

/// Euclid's algorithm on absolute values, whose largest one is a positive unsigned number.
mlir::Value greatestCommonDivisor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                                  mlir::Value b);

/// A power by squaring. A negative power is a fraction, which rounds to 0, except for 1 and -1,
/// whose powers repeat.
mlir::Value integerPower(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                         mlir::Value exponent);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_INTEGERARITHMETIC_H
