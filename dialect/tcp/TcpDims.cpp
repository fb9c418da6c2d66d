// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/tcp/TcpDims.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace convoy::tcp;

//===-- dims ---------------------------------------------------------------===//

Dim::Dim(AffineExpr expression) : number(ShapedType::kDynamic), expr(expression) {
  if (auto constant = dyn_cast_if_present<AffineConstantExpr>(expression)) {
    number = constant.getValue();
    expr = {};
  }
}

AffineExpr Dim::expression(MLIRContext *context) const {
  assert(!isUnknown() && "an unknown dim has no expression");
  return expr ? expr : getAffineConstantExpr(number, context);
}

namespace convoy::tcp {

Dim operator+(Dim a, Dim b) {
  if (a.isUnknown() || b.isUnknown())
    return Dim::unknown();
  if (!a.expr && !b.expr)
    return a.number + b.number;
  MLIRContext *context = (a.expr ? a.expr : b.expr).getContext();
  return a.expression(context) + b.expression(context);
}

Dim operator*(Dim a, Dim b) {
  if (a.isUnknown() || b.isUnknown())
    return Dim::unknown();
  if (!a.expr && !b.expr)
    return a.number * b.number;
  MLIRContext *context = (a.expr ? a.expr : b.expr).getContext();
  return a.expression(context) * b.expression(context);
}

Dim operator-(Dim a, Dim b) { return a + b * -1; }

Dim floorDiv(Dim a, Dim b) {
  if (a.isUnknown() || b.isUnknown())
    return Dim::unknown();
  if (!a.expr && !b.expr)
    return llvm::divideFloorSigned(a.number, b.number);
  MLIRContext *context = (a.expr ? a.expr : b.expr).getContext();
  return a.expression(context).floorDiv(b.expression(context));
}

} // namespace convoy::tcp

Dims convoy::tcp::dimsOf(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return Dims(shape.begin(), shape.end());
}

Dims convoy::tcp::dimsOf(Value value) { return dimsOf(value.getType()); }

//===-- symbols ------------------------------------------------------------===//

std::optional<int64_t> Symbols::bound(Dim dim, bool isUpper) const {
  if (dim.isUnknown())
    return std::nullopt;
  if (dim.isNumber())
    return dim.size();
  // As the only symbols of the expression are those in `ranges`, the context is not used.
  SmallVector<std::optional<int64_t>> lower, upper;
  for (const SymbolRange &range : ranges) {
    lower.push_back(range.minimum);
    upper.push_back(range.maximum);
  }
  return getBoundForAffineExpr(dim.expression(nullptr), /*numDims=*/0, ranges.size(), lower, upper,
                               isUpper);
}

bool Symbols::canBeEqual(Dim a, Dim b) const {
  if (a.isUnknown() || b.isUnknown() || a == b)
    return true;
  if (a.isNumber() && b.isNumber())
    return false;
  MLIRContext *context = (a.isNumber() ? b : a).expression(nullptr).getContext();
  // A symbol is its divisor times a number, which shows what it divides.
  SmallVector<AffineExpr> multiples;
  for (auto [i, range] : llvm::enumerate(ranges))
    multiples.push_back(getAffineSymbolExpr(i, context) * range.divisor);
  auto multiple = [&](Dim dim) {
    return simplifyAffineExpr(dim.expression(context).replaceSymbols(multiples), 0, ranges.size());
  };
  AffineExpr left = multiple(a), right = multiple(b);
  Dim apart = simplifyAffineExpr(left - right, 0, ranges.size());
  if (apart.isNumber())
    return apart.is(0);
  if (auto constant = dyn_cast<AffineConstantExpr>(right);
      constant && constant.getValue() % left.getLargestKnownDivisor() != 0)
    return false;
  if (auto constant = dyn_cast<AffineConstantExpr>(left);
      constant && constant.getValue() % right.getLargestKnownDivisor() != 0)
    return false;
  Dim difference = simplifyAffineExpr((a - b).expression(context), 0, ranges.size());
  std::optional<int64_t> least = bound(difference, /*isUpper=*/false),
                         most = bound(difference, /*isUpper=*/true);
  return !(least && *least > 0) && !(most && *most < 0);
}

bool Symbols::canBeEqual(ArrayRef<Dim> a, ArrayRef<Dim> b) const {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [&](auto pair) {
           return canBeEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

FailureOr<Dim> Symbols::meet(Dim a, Dim b) const {
  if (!canBeEqual(a, b))
    return failure();
  return a.isUnknown() || b.isNumber() ? b : a;
}

std::string Symbols::str(Dim dim) const {
  if (dim.isUnknown())
    return "?";
  if (dim.isNumber())
    return std::to_string(dim.size());
  std::string text, named;
  llvm::raw_string_ostream os(text);
  dim.expression(nullptr).print(os);
  // The expression has `s0` for the first symbol. Names begin with other characters than digits.
  StringRef rest = text;
  while (!rest.empty()) {
    unsigned index = 0;
    StringRef digits = rest;
    if (digits.consume_front("s") && !digits.consumeInteger(10, index) && index < ranges.size()) {
      named += ranges[index].name;
      rest = digits;
      continue;
    }
    named += rest.front();
    rest = rest.drop_front();
  }
  return named;
}

std::string Symbols::str(ArrayRef<Dim> dims) const {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? ", " : "") + str(dim);
  return text + "]";
}
