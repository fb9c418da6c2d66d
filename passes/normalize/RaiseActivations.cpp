// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds activations that a model writes out as arithmetic: x * k * (1 + tanh(p(x))) and its kin,
// with polynomials p that are written in many ways.

#include "dialect/tcp/TcpShapes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"

namespace convoy {
#define GEN_PASS_DEF_TCPRAISEACTIVATIONSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct RaiseActivationsPass
    : public convoy::impl::TcpRaiseActivationsPassBase<RaiseActivationsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// The coefficients of x^0, x^1, ...
constexpr size_t kTerms = 4;
using Polynomial = std::array<double, kTerms>;

/// Replaces a product of x, a number and a gate by the activation that it is.
template <typename Op> struct RaiseActivation : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override;
};

/// The factors of a product with a gate.
struct Factors {
  double number = 1;
  Value x;    ///< the factor that is neither a number nor the gate
  Value gate; ///< a sigmoid, or one plus tanh or erf
};

} // namespace

static std::optional<double> splatOf(Value value) {
  FloatAttr number = numberOf(value);
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

static std::optional<Polynomial> product(const Polynomial &a, const Polynomial &b) {
  Polynomial result = {};
  for (size_t i = 0; i < kTerms; ++i)
    for (size_t j = 0; j < kTerms; ++j) {
      double term = a[i] * b[j];
      if (term == 0)
        continue;
      if (i + j >= kTerms)
        return std::nullopt;
      result[i + j] += term;
    }
  return result;
}

/// `value` as a polynomial of `x`, or std::nullopt if it is none of few terms, or takes more than
/// `budget` ops.
static std::optional<Polynomial> polynomialOf(Value value, Value x, int &budget) {
  if (value == x)
    return Polynomial{0, 1};
  if (auto number = splatOf(value))
    return Polynomial{*number};
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<AddOp, SubOp, MulOp, DivOp, PowOp, NegOp>(op) || budget-- == 0)
    return std::nullopt;
  std::optional<Polynomial> lhs = polynomialOf(op->getOperand(0), x, budget);
  if (!lhs)
    return std::nullopt;
  if (isa<NegOp>(op))
    return product(*lhs, {-1});
  if (isa<DivOp, PowOp>(op)) {
    auto number = splatOf(op->getOperand(1));
    if (!number)
      return std::nullopt;
    if (isa<DivOp>(op))
      return product(*lhs, {1 / *number});
    std::optional<Polynomial> power = Polynomial{1};
    if (*number != 2 && *number != 3)
      return std::nullopt;
    for (int i = 0; i < static_cast<int>(*number) && power; ++i)
      power = product(*power, *lhs);
    return power;
  }
  std::optional<Polynomial> rhs = polynomialOf(op->getOperand(1), x, budget);
  if (!rhs)
    return std::nullopt;
  if (isa<MulOp>(op))
    return product(*lhs, *rhs);
  for (size_t i = 0; i < kTerms; ++i)
    (*lhs)[i] += isa<SubOp>(op) ? -(*rhs)[i] : (*rhs)[i];
  return lhs;
}

/// The op of a gate: the sigmoid, or the tanh or erf that one is added to; null for other values.
static Operation *gateOf(Value value) {
  if (auto sigmoid = value.getDefiningOp<SigmoidOp>())
    return sigmoid;
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return nullptr;
  for (int64_t i : {0, 1}) {
    Operation *op = add->getOperand(i).getDefiningOp();
    if (isa_and_present<TanhOp, ErfOp>(op) && splatOf(add->getOperand(1 - i)) == 1.0)
      return op;
  }
  return nullptr;
}

/// The factors of `value` if one of them is a gate and at most one is x.
static std::optional<Factors> factorsOf(Value value) {
  if (gateOf(value))
    return Factors{1, {}, value};
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<MulOp, DivOp>(op) || (isa<DivOp>(op) && !splatOf(op->getOperand(1))))
    return std::nullopt;
  for (int64_t i : {0, 1}) {
    if (isa<DivOp>(op) && i == 1)
      break;
    std::optional<Factors> factors = factorsOf(op->getOperand(i));
    if (!factors)
      continue;
    Value other = op->getOperand(1 - i);
    if (auto number = splatOf(other))
      factors->number *= isa<DivOp>(op) ? 1 / *number : *number;
    else if (!factors->x)
      factors->x = other;
    else
      continue;
    return factors;
  }
  return std::nullopt;
}

/// Whether each coefficient is the expected one, as far as numbers of type `semantics` can be.
static bool isNear(const Polynomial &found, const Polynomial &expected,
                   const llvm::fltSemantics &semantics) {
  double unit = std::ldexp(1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(semantics)));
  return llvm::all_of(llvm::zip_equal(found, expected), [&](auto pair) {
    auto [a, b] = pair;
    return std::abs(a - b) <= 4 * unit * std::abs(b);
  });
}

/// Creates the activation that `number * x * gate` is, or returns null.
static Value activationOf(PatternRewriter &rewriter, Location loc, double number, Value x,
                          Operation *gate) {
  constexpr double kTanh = 0.79788456080286535588, kErf = 0.70710678118654752440;
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics();
  int budget = 16;
  std::optional<Polynomial> inner = polynomialOf(gate->getOperand(0), x, budget);
  if (!inner)
    return {};
  auto is = [&](double scale, const Polynomial &expected) {
    return isNear({number}, {scale}, semantics) && isNear(*inner, expected, semantics);
  };
  if (isa<SigmoidOp>(gate))
    return is(1, {0, 1}) ? SiluOp::create(rewriter, loc, x.getType(), x).getOutput() : Value();
  if (isa<ErfOp>(gate) && is(0.5, {0, kErf}))
    return GeluOp::create(rewriter, loc, x.getType(), x, GeluApproximation::None);
  if (isa<TanhOp>(gate) && is(0.5, {0, kTanh, 0, kTanh * 0.044715}))
    return GeluOp::create(rewriter, loc, x.getType(), x, GeluApproximation::Tanh);
  return {};
}

template <typename Op>
LogicalResult RaiseActivation<Op>::matchAndRewrite(Op op, PatternRewriter &rewriter) const {
  if (!isa<FloatType>(op.getType().getElementType()))
    return rewriter.notifyMatchFailure(op, "not of floats");
  if (isa<IsolatedGroupOp>(op->getParentOp()))
    return rewriter.notifyMatchFailure(op, "a group in the input keeps its ops");
  std::optional<Factors> factors = factorsOf(op);
  if (!factors || !factors->x)
    return rewriter.notifyMatchFailure(op, "not a product of a value and a gate");
  // x may be a product of a number itself, and the number a factor of this one.
  Value x = factors->x;
  for (double number = factors->number; x && shapeOf(x) == shapeOf(op);) {
    if (Value found = activationOf(rewriter, op.getLoc(), number, x, gateOf(factors->gate))) {
      rewriter.replaceOp(op, found);
      return success();
    }
    auto scaled = x.getDefiningOp<MulOp>();
    if (!scaled)
      break;
    auto lhs = splatOf(scaled.getLhs()), rhs = splatOf(scaled.getRhs());
    number *= lhs ? *lhs : rhs.value_or(1);
    x = lhs ? scaled.getRhs() : rhs ? scaled.getLhs() : Value();
  }
  return rewriter.notifyMatchFailure(op, "the gate is not one of an activation of the value");
}

void RaiseActivationsPass::runOnStaticShapes() {
  RewritePatternSet patterns(&getContext());
  patterns.add<RaiseActivation<MulOp>, RaiseActivation<DivOp>>(&getContext());
  if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
    signalPassFailure();
}
