// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forms the groups of recurrent layers, which a kernel of the artifact computes. Runs before the
// groups for cuDNN are formed, which would contain the product of a step.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/common/Groups.h"
#include "passes/common/Recurrent.h"

namespace convoy {
#define GEN_PASS_DEF_TCPFORMRECURRENTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct FormRecurrentPass : public convoy::impl::TcpFormRecurrentPassBase<FormRecurrentPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// The type of the stacked hidden states.
static RankedTensorType stackedType(Recurrent &layer) {
  auto state = cast<RankedTensorType>(layer.lastHidden.getType());
  SmallVector<int64_t> shape(state.getShape());
  shape.insert(shape.begin(), layer.scan.getTrips());
  return RankedTensorType::get(shape, state.getElementType());
}

/// Clones the scan of `layer` at the builder's insertion point. The clone always has the stacked
/// hidden states.
static ScanOp cloneStacked(OpBuilder &builder, Recurrent &layer, IRMapping &values) {
  auto scan = cast<ScanOp>(builder.clone(*layer.scan, values));
  if (!scan.getStacked().empty())
    return scan;
  SmallVector<Type> types(scan.getResultTypes());
  types.push_back(stackedType(layer));
  auto stacked = ScanOp::create(builder, scan.getLoc(), types, scan.getCarried(), scan.getSliced(),
                                scan.getInvariant(), scan.getTrips(), scan.getReverse());
  stacked.getBody().takeBody(scan.getBody());
  scan.erase();
  Operation *yield = stacked.getYield();
  yield->insertOperands(yield->getNumOperands(),
                        yield->getOperand(layer.lastHidden.getResultNumber()));
  return stacked;
}

/// The hidden state after the last step, an element of `stacked`.
static Value lastOf(OpBuilder &builder, Recurrent &layer, Value stacked) {
  auto type = cast<RankedTensorType>(stacked.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()), ones(type.getRank(), 1);
  starts.front() = layer.scan.getReverse() ? 0 : sizes.front() - 1;
  sizes.front() = 1;
  Location loc = layer.scan.getLoc();
  Value element = SliceOp::create(builder, loc, RankedTensorType::get(sizes, type.getElementType()),
                                  stacked, starts, sizes, ones);
  return ReshapeOp::create(builder, loc, layer.lastHidden.getType(), element);
}

static void outline(Recurrent &layer) {
  Location loc = layer.scan.getLoc();
  SmallVector<Value> inputs;
  for (Value input : {layer.given, layer.weights, layer.bias, layer.hidden, layer.cell})
    if (input && !llvm::is_contained(inputs, input))
      inputs.push_back(input);
  SmallVector<Type> types = {stackedType(layer)};
  if (layer.lastCell)
    types.push_back(layer.lastCell.getType());
  OpBuilder builder(layer.scan);
  auto group = IsolatedGroupOp::create(builder, loc, types, inputs);
  group->setAttr(kAnchorAttr, builder.getStringAttr(kRecurrentAnchor));
  group->setAttr(kPatternAttr, builder.getStringAttr(layer.mode));

  Block &body = group.getBody().emplaceBlock();
  IRMapping values;
  for (Value input : inputs)
    values.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToStart(&body);
  // The other operands are zeros.
  for (Value operand : layer.scan->getOperands())
    if (!values.contains(operand))
      builder.clone(*operand.getDefiningOp(), values);
  ScanOp scan = cloneStacked(builder, layer, values);
  SmallVector<Value> results(scan.getStacked());
  if (layer.lastCell)
    results.push_back(scan->getResult(layer.lastCell.getResultNumber()));
  YieldOp::create(builder, loc, results);

  builder.setInsertionPointAfter(group);
  if (!layer.lastHidden.use_empty())
    layer.lastHidden.replaceAllUsesWith(lastOf(builder, layer, group.getResult(0)));
  if (layer.lastCell)
    layer.lastCell.replaceAllUsesWith(group.getResult(1));
  for (Value stacked : layer.scan.getStacked())
    stacked.replaceAllUsesWith(group.getResult(0));
  layer.scan.erase();
}

void FormRecurrentPass::runOnStaticShapes() {
  if (getOperation().isExternal() || getTarget(getOperation()) == Target::Cpu)
    return;
  for (auto scan : llvm::make_early_inc_range(getOperation().getOps<ScanOp>())) {
    std::string reason;
    if (std::optional<Recurrent> layer = matchRecurrent(scan, reason))
      outline(*layer);
    else if (remarks)
      scan.emitRemark(reason);
  }
}
