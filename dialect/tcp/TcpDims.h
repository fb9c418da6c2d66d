// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dims as numbers, as expressions of symbols, or unknown: what shapes are inferred with.

#ifndef CONVOY_DIALECT_TCP_TCPDIMS_H
#define CONVOY_DIALECT_TCP_TCPDIMS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <string>

namespace convoy::tcp {

/// The size of one dim: a number, an expression of symbols, or unknown. Arithmetic with an unknown
/// dim gives an unknown one.
class Dim {
public:
  /// A number, or unknown for `ShapedType::kDynamic`.
  Dim(int64_t size) : number(size) {}
  /// A number if the expression is constant.
  Dim(mlir::AffineExpr expression);
  static Dim unknown() { return Dim(mlir::ShapedType::kDynamic); }

  bool isNumber() const { return !expr && !isUnknown(); }
  bool isUnknown() const { return !expr && mlir::ShapedType::isDynamic(number); }
  /// Whether this is the number `value`.
  bool is(int64_t value) const { return isNumber() && number == value; }
  /// The number; `ShapedType::kDynamic` if this is none.
  int64_t size() const { return expr ? mlir::ShapedType::kDynamic : number; }
  /// The expression of a dim that is not unknown.
  mlir::AffineExpr expression(mlir::MLIRContext *context) const;
  /// Whether both are one number or one expression.
  bool operator==(const Dim &other) const {
    return !isUnknown() && number == other.number && expr == other.expr;
  }

private:
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  friend Dim floorDiv(Dim a, Dim b);

  int64_t number;
  mlir::AffineExpr expr;
};

Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
/// The quotient rounded down. A number as `b` is positive.
Dim floorDiv(Dim a, Dim b);

using Dims = llvm::SmallVector<Dim>;

/// The dims of a ranked tensor; `?` are unknown.
Dims dimsOf(mlir::Type type);
Dims dimsOf(mlir::Value value);

/// The name of a symbol, and the values that it can have.
struct SymbolRange {
  std::string name;
  int64_t minimum, maximum, divisor;
};

/// What is known of the symbols in expressions. Symbol `i` of an expression is the i-th.
class Symbols {
public:
  /// No symbols, for dims that are numbers or unknown.
  Symbols() = default;
  explicit Symbols(llvm::SmallVector<SymbolRange> ranges) : ranges(std::move(ranges)) {}

  /// False if the dims differ for all values of the symbols.
  bool canBeEqual(Dim a, Dim b) const;
  /// The same for shapes, which may differ in rank.
  bool canBeEqual(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b) const;

  /// The largest or smallest value of a dim; nothing if it cannot be computed.
  std::optional<int64_t> bound(Dim dim, bool isUpper) const;

  /// A dim that is both `a` and `b`: the more precise of both, or failure if they cannot be equal.
  mlir::FailureOr<Dim> meet(Dim a, Dim b) const;

  /// Formats for messages, with the names of symbols: `[batch + 1, 64, ?]`.
  std::string str(Dim dim) const;
  std::string str(llvm::ArrayRef<Dim> dims) const;

private:
  llvm::SmallVector<SymbolRange> ranges;
};

} // namespace convoy::tcp

#endif // CONVOY_DIALECT_TCP_TCPDIMS_H
