// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Splits the model: @prepare_weights computes everything that depends only on weights, once, and
// @main takes the results as arguments.

#include "dialect/tcp/TcpSteps.h"
#include "passes/Passes.h"
#include "passes/normalize/OrderCost.h"
#include "passes/normalize/Weights.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace convoy {
#define GEN_PASS_DEF_TCPHOISTWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

static constexpr StringLiteral kPrepare = "prepare_weights";

/// A prepared weight is at most this many times as large as the weights that it is computed from:
/// one of bools that becomes 8 bytes per element, or of one channel that is padded to 8, is not
/// larger. What expands more is a product of dims, as a comparison of all pairs.
static constexpr int64_t kMostExpansion = 8;
/// Smaller prepared weights may expand more, e.g. a table of sines of positions by frequencies:
/// reading 1 MiB takes less time than computing it.
static constexpr int64_t kSmallBytes = 1 << 20;

namespace {

struct HoistWeightsPass : public convoy::impl::TcpHoistWeightsPassBase<HoistWeightsPass> {
  using Base::Base;
  void runOnStaticShapes() override;

private:
  func::FuncOp createPrepare(func::FuncOp main, ArrayRef<BlockArgument> arguments,
                             ArrayRef<Value> prepared, ArrayRef<std::string> names);
};

/// Assigns readable, unique names to prepared weights.
class Names {
public:
  explicit Names(func::FuncOp main) : main(main) {}

  /// The name of the weight if `value` depends on one; otherwise, for a bias, a name after the
  /// filter of the product that it is added to; otherwise the name of its largest weight. A number
  /// makes names unique.
  std::string unique(Value value);

private:
  /// The name of the largest weight that `value` depends on; empty if there is none.
  StringRef mainWeight(Value value);
  /// Whether `value` depends on one weight only.
  bool hasOneSource(Value value);
  std::string base(Value value);

  func::FuncOp main;
  llvm::StringSet<> taken;
};

} // namespace

StringRef Names::mainWeight(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Value largest;
    auto size = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getNumElements();
    };
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp<arith::ConstantOp>() &&
          (!largest || size(operand) > size(largest)))
        largest = operand;
    if (!largest)
      return {};
    value = largest;
  }
  auto name =
      main.getArgAttrOfType<StringAttr>(cast<BlockArgument>(value).getArgNumber(), kWeightAttr);
  return name ? name.getValue() : StringRef();
}

bool Names::hasOneSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto sources = llvm::make_filter_range(op->getOperands(), [](Value operand) {
      return !operand.getDefiningOp<arith::ConstantOp>();
    });
    if (!llvm::hasSingleElement(sources))
      return false;
    value = *sources.begin();
  }
  return true;
}

std::string Names::base(Value value) {
  if (!hasOneSource(value))
    for (Operation *user : value.getUsers()) {
      auto add = dyn_cast<AddOp>(user);
      Operation *anchor =
          add ? (add.getLhs() == value ? add.getRhs() : add.getLhs()).getDefiningOp() : nullptr;
      if (!anchor || !isa<ConvOpInterface, MatmulOp>(anchor))
        continue;
      StringRef filter = mainWeight(anchor->getOperand(1));
      if (filter.empty())
        continue;
      filter.consume_back(".weight");
      return (filter + ".bias").str();
    }
  StringRef name = mainWeight(value);
  return name.empty() ? "constant" : name.str();
}

std::string Names::unique(Value value) {
  std::string name = base(value), candidate = name;
  for (int64_t i = 1; !taken.insert(candidate).second; ++i)
    candidate = name + "." + std::to_string(i);
  return candidate;
}

/// Whether a prepared weight would be much larger than the weights that it is computed from.
static bool isExpanded(Value value) {
  if (bytesOf(value) <= kSmallBytes)
    return false;
  int64_t sources = 0;
  llvm::DenseSet<Value> seen = {value};
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op) {
      sources += bytesOf(next);
      continue;
    }
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        worklist.push_back(operand);
  }
  return bytesOf(value) / kMostExpansion > sources;
}

/// The ops that stay in @main: constants, those that depend on data, and those whose result would
/// be too large as a prepared weight, which @main computes from what is.
static llvm::DenseSet<Operation *> keptOps(func::FuncOp main, const WeightValues &weights) {
  llvm::DenseSet<Operation *> kept;
  for (Operation &op : llvm::reverse(main.getBody().front())) {
    bool isWeight = op.getNumResults() == 1 && weights.contains(op.getResult(0));
    auto isUsed = [&](Operation *user) { return kept.contains(user); };
    if (!isWeight || isa<arith::ConstantOp>(op) ||
        (llvm::any_of(op.getUsers(), isUsed) && isExpanded(op.getResult(0))))
      kept.insert(&op);
  }
  return kept;
}

func::FuncOp HoistWeightsPass::createPrepare(func::FuncOp main, ArrayRef<BlockArgument> arguments,
                                             ArrayRef<Value> prepared,
                                             ArrayRef<std::string> names) {
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto types = [](auto &&values) {
    return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
  };
  auto type = builder.getFunctionType(types(arguments), types(prepared));
  auto prepare = func::FuncOp::create(builder, main.getLoc(), kPrepare, type);
  setTarget(prepare, Target::Cpu);
  IRMapping mapping;
  Block *body = prepare.addEntryBlock();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    prepare.setArgAttrs(i, main.getArgAttrDict(argument.getArgNumber()));
    body->getArgument(i).setLoc(argument.getLoc());
    mapping.map(argument, body->getArgument(i));
  }
  for (auto [i, name] : llvm::enumerate(names))
    prepare.setResultAttr(i, kPreparedAttr, builder.getStringAttr(name));

  // The backward slice of the prepared weights, in the order of @main.
  llvm::DenseSet<Operation *> needed;
  SmallVector<Value> worklist(prepared);
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  builder.setInsertionPointToEnd(body);
  for (Operation &op : main.getBody().front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
  func::ReturnOp::create(builder, main.getLoc(), llvm::map_to_vector(prepared, [&](Value value) {
                           return mapping.lookup(value);
                         }));
  return prepare;
}

void HoistWeightsPass::runOnStaticShapes() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    module.emitError("expects a function @main with a body");
    return signalPassFailure();
  }
  if (Operation *other = module.lookupSymbol(kPrepare)) {
    other->emitError("expects no function @prepare_weights before weights are hoisted");
    return signalPassFailure();
  }

  WeightValues weights(main);
  SmallVector<BlockArgument> arguments = llvm::to_vector(llvm::make_filter_range(
      main.getArguments(), [&](BlockArgument argument) { return weights.contains(argument); }));
  // Weight values that the ops of @main use, in program order; constants stay in @main.
  llvm::DenseSet<Operation *> kept = keptOps(main, weights);
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  for (Operation &op : main.getBody().front()) {
    if (!kept.contains(&op))
      continue;
    for (OpOperand &operand : op.getOpOperands())
      if (weights.contains(operand.get()) && !kept.contains(operand.get().getDefiningOp()))
        uses[operand.get()].push_back(&operand);
  }
  Names names(main);
  SmallVector<Value> prepared = llvm::map_to_vector(uses, [](auto &entry) { return entry.first; });
  SmallVector<std::string> preparedNames =
      llvm::map_to_vector(prepared, [&](Value value) { return names.unique(value); });
  createPrepare(main, arguments, prepared, preparedNames);

  for (auto [value, name] : llvm::zip_equal(prepared, preparedNames)) {
    unsigned index = main.getNumArguments();
    NamedAttrList attrs;
    attrs.set(kPreparedAttr, StringAttr::get(&getContext(), name));
    if (auto weight = dyn_cast<BlockArgument>(value))
      if (Attribute steps = main.getArgAttr(weight.getArgNumber(), kStepsAttr))
        attrs.set(kStepsAttr, steps);
    if (failed(main.insertArgument(index, value.getType(), attrs.getDictionary(&getContext()),
                                   value.getLoc())))
      return signalPassFailure();
    for (OpOperand *use : uses[value])
      use->set(main.getArgument(index));
  }
  eraseDeadOps(main.getBody().front());
  llvm::BitVector old(main.getNumArguments());
  for (BlockArgument argument : arguments)
    old.set(argument.getArgNumber());
  if (failed(main.eraseArguments(old)))
    return signalPassFailure();
  main->setAttr(kTargetAttr, StringAttr::get(&getContext(), target));
  module->setAttr(kTargetAttr, StringAttr::get(&getContext(), target));
}
