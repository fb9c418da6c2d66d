// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/Recurrent.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/common/Groups.h"
#include <limits>

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

/// The number of sequences for which a kernel reads the weights once, and the largest number of
/// bytes of weights that it reads again for further sequences in a step. The L2 cache of a large
/// GPU delivers these bytes in 4 us, the time of a product and the kernel of the gates.
static constexpr int64_t kSequences = 8, kMostTraffic = 16 << 20;

namespace {

using Check = llvm::function_ref<bool(Value)>;

/// Whether `value` is `Op` of an operand that passes the check.
template <typename Op> bool isUnary(Value value, Check check) {
  auto op = value.getDefiningOp<Op>();
  return op && check(op.getInput());
}

/// Whether `value` is `Op`, which is commutative, of operands that pass the checks.
template <typename Op> bool isBinary(Value value, Check one, Check other) {
  auto op = value.getDefiningOp<Op>();
  return op &&
         ((one(op.getLhs()) && other(op.getRhs())) || (other(op.getLhs()) && one(op.getRhs())));
}

/// The values of a step that its formulas have.
struct Step {
  Value product;       ///< of the hidden state and the weights
  BlockArgument given; ///< the step's part of the products of the inputs
  Value hidden, nextHidden;
  Value cell, nextCell; ///< null unless the state has two parts
  Value bias;           ///< set by `isGru`

  int64_t size() { return shapeOf(hidden)[1]; }
  bool isGiven(Value value) { return value == given; }
  bool isProduct(Value value) { return value == product; }
  bool isSum(Value value) {
    return isBinary<AddOp>(
        value, [&](Value each) { return isProduct(each); },
        [&](Value each) { return isGiven(each); });
  }
  /// Whether `value` is gate number `gate` of a value that passes the check.
  bool isGate(Value value, int64_t gate, Check check) {
    auto slice = value.getDefiningOp<SliceOp>();
    return slice && check(slice.getInput()) &&
           slice.getStarts() == ArrayRef<int64_t>{0, gate * size()} &&
           slice.getSizes() == shapeOf(hidden) && slice.getStrides() == ArrayRef<int64_t>{1, 1};
  }
  bool isSumGate(Value value, int64_t gate) {
    return isGate(value, gate, [&](Value each) { return isSum(each); });
  }
  /// Whether `value` is the sum of the gates of both products.
  bool isGateSum(Value value, int64_t gate) {
    return isBinary<AddOp>(
        value,
        [&](Value each) { return isGate(each, gate, [&](Value of) { return isProduct(of); }); },
        [&](Value each) { return isGate(each, gate, [&](Value of) { return isGiven(of); }); });
  }
  bool isLstm();
  bool isGru();
  bool isTanh() {
    return isUnary<TanhOp>(nextHidden, [&](Value sum) { return isSum(sum); });
  }
  bool isRelu() {
    auto clamp = nextHidden.getDefiningOp<ClampOp>();
    return clamp && clamp.getMinFloat() && clamp.getMinFloat()->isZero() && !clamp.getMaxFloat() &&
           isSum(clamp.getInput());
  }
};

} // namespace

bool Step::isLstm() {
  auto isSigmoid = [&](Value value, int64_t gate) {
    return isUnary<SigmoidOp>(value, [&](Value sum) { return isSumGate(sum, gate); });
  };
  auto isKept = [&](Value value) {
    return isBinary<MulOp>(
        value, [&](Value each) { return isSigmoid(each, 1); },
        [&](Value each) { return each == cell; });
  };
  auto isAdded = [&](Value value) {
    return isBinary<MulOp>(
        value, [&](Value each) { return isSigmoid(each, 0); },
        [&](Value each) {
          return isUnary<TanhOp>(each, [&](Value sum) { return isSumGate(sum, 2); });
        });
  };
  return isBinary<AddOp>(nextCell, isKept, isAdded) &&
         isBinary<MulOp>(
             nextHidden, [&](Value each) { return isSigmoid(each, 3); },
             [&](Value each) {
               return isUnary<TanhOp>(each, [&](Value of) { return of == nextCell; });
             });
}

bool Step::isGru() {
  auto isSigmoid = [&](Value value, int64_t gate) {
    return isUnary<SigmoidOp>(value, [&](Value sum) { return isGateSum(sum, gate); });
  };
  auto isOwn = [&](Value value) {
    return isGate(value, 2, [&](Value of) { return isProduct(of); });
  };
  auto isBias = [&](Value value) {
    if (!isa<BlockArgument>(value) || shapeOf(value) != ArrayRef<int64_t>{1, size()})
      return false;
    bias = value;
    return true;
  };
  auto isPart = [&](Value value) { return isOwn(value) || isBinary<AddOp>(value, isOwn, isBias); };
  auto isScaled = [&](Value value) {
    return isBinary<MulOp>(value, [&](Value each) { return isSigmoid(each, 0); }, isPart);
  };
  auto isGivenNew = [&](Value value) {
    return isGate(value, 2, [&](Value of) { return isGiven(of); });
  };
  auto isNew = [&](Value value) {
    return isUnary<TanhOp>(value,
                           [&](Value sum) { return isBinary<AddOp>(sum, isGivenNew, isScaled); });
  };
  auto isChange = [&](Value value) {
    auto difference = value.getDefiningOp<SubOp>();
    return difference && difference.getLhs() == hidden && isNew(difference.getRhs());
  };
  return isBinary<AddOp>(nextHidden, isNew, [&](Value value) {
    return isBinary<MulOp>(value, [&](Value each) { return isSigmoid(each, 1); }, isChange);
  });
}

/// The product of a state and an invariant operand, if it is the only product of the body.
static MatmulOp findProduct(ScanOp scan) {
  auto products = scan.getBody().front().getOps<MatmulOp>();
  if (!llvm::hasSingleElement(products))
    return {};
  MatmulOp product = *products.begin();
  return llvm::is_contained(scan.getCarriedArgs(), product.getLhs()) &&
                 llvm::is_contained(scan.getInvariantArgs(), product.getRhs())
             ? product
             : MatmulOp();
}

/// Null if `value` is a zero.
static Value unlessZero(Value value) {
  FloatAttr number = numberOf(value);
  return number && number.getValue().isPosZero() ? Value() : value;
}

static bool hasOneType(ScanOp scan) {
  Type element = getElementTypeOrSelf(scan.getResult(0).getType());
  auto isOfElement = [&](Type type) { return getElementTypeOrSelf(type) == element; };
  bool isOne = element.isF32() || element.isF16() || element.isBF16();
  scan.getBody().walk(
      [&](Operation *op) { isOne &= llvm::all_of(op->getOperandTypes(), isOfElement); });
  return isOne;
}

std::optional<Recurrent> matchRecurrent(ScanOp scan, std::string &reason) {
  auto refuse = [&](const Twine &why) {
    reason = ("not a recurrent layer: " + why).str();
    return std::nullopt;
  };
  size_t parts = scan.getCarried().size();
  MatmulOp product = findProduct(scan);
  if (!product || parts > 2 || scan.getSliced().size() != 1)
    return refuse("expects one product, of a state and a matrix that all steps share, a state of "
                  "at most two parts, and one tensor with an element for each step");
  auto place = cast<BlockArgument>(product.getLhs()).getArgNumber();
  Step step;
  step.product = product;
  step.given = scan.getSlicedArgs().front();
  step.hidden = product.getLhs();
  step.nextHidden = scan.getNextState()[place];
  if (parts == 2) {
    step.cell = scan.getCarriedArgs()[1 - place];
    step.nextCell = scan.getNextState()[1 - place];
  }
  StringRef mode;
  if (shapeOf(step.hidden).size() == 2 && parts == 2)
    mode = step.isLstm() ? "lstm" : "";
  else if (shapeOf(step.hidden).size() == 2)
    mode = step.isTanh() ? "rnn_tanh" : step.isRelu() ? "rnn_relu" : step.isGru() ? "gru" : "";
  if (mode.empty())
    return refuse("expects the formulas of an LSTM, a GRU or an RNN");
  OperandRange outputs = scan.getStepOutputs();
  if (outputs.size() > 1 || (!outputs.empty() && outputs.front() != step.nextHidden))
    return refuse("expects no output but the hidden state");
  if (!hasOneType(scan))
    return refuse("expects all tensors to be of f32, f16 or bf16");
  if (scan.getTrips() < 2)
    return refuse("expects at least two steps");
  auto weights = cast<RankedTensorType>(product.getRhs().getType());
  int64_t bytes = weights.getElementTypeBitWidth() / 8;
  if (step.size() * bytes % 16 != 0)
    return refuse("expects a hidden state of a multiple of 16 bytes, but got " +
                  Twine(step.size() * bytes));
  int64_t reads = llvm::divideCeil(shapeOf(step.hidden)[0], kSequences),
          traffic = reads * weights.getNumElements() * bytes;
  if (reads > 1 && traffic > kMostTraffic)
    return refuse("its kernels would read " + Twine(traffic) + " bytes of weights in each step");

  int64_t elements = cast<RankedTensorType>(scan.getSliced().front().getType()).getNumElements();
  if (elements == 0)
    return refuse("expects tensors that are not empty");
  if (std::max(elements, weights.getNumElements()) > std::numeric_limits<int32_t>::max())
    return refuse("its kernels have 32-bit indices");

  auto operandOf = [&](Value argument) {
    return argument ? scan->getOperand(cast<BlockArgument>(argument).getArgNumber()) : Value();
  };
  Recurrent found;
  found.scan = scan;
  found.mode = mode;
  found.given = operandOf(step.given);
  found.weights = operandOf(product.getRhs());
  found.bias = operandOf(step.bias);
  found.hidden = unlessZero(operandOf(step.hidden));
  found.lastHidden = scan->getResult(place);
  if (step.cell) {
    found.cell = unlessZero(operandOf(step.cell));
    found.lastCell = scan->getResult(1 - place);
  }
  return found;
}

std::optional<Recurrent> matchRecurrentGroup(IsolatedGroupOp group, std::string &reason) {
  Block &body = group.getBody().front();
  auto scans = body.getOps<ScanOp>();
  auto isOther = [](Operation &op) { return !isa<ScanOp, arith::ConstantOp>(op); };
  if (!llvm::hasSingleElement(scans) || llvm::any_of(body.without_terminator(), isOther)) {
    reason = "not a recurrent layer: expects one scan, and no other ops but constants";
    return std::nullopt;
  }
  std::optional<Recurrent> found = matchRecurrent(*scans.begin(), reason);
  if (!found)
    return std::nullopt;
  SmallVector<Value> results(found->scan.getStacked());
  if (found->lastCell)
    results.push_back(found->lastCell);
  if (found->scan.getStacked().empty() ||
      !llvm::equal(body.getTerminator()->getOperands(), results)) {
    reason = "not a recurrent layer: expects the stacked hidden states as a result, then the last "
             "cell of an LSTM";
    return std::nullopt;
  }
  return found;
}

} // namespace convoy
