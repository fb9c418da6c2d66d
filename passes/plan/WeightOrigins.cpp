// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tells for each prepared weight how it is computed, as a hash of that computation. Programs of one
// model for different sizes share the weights with equal hashes.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace convoy {
#define GEN_PASS_DEF_WEIGHTORIGINSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct WeightOriginsPass : public convoy::impl::WeightOriginsPassBase<WeightOriginsPass> {
  void runOnOperation() override;
};

std::string hashOf(StringRef text) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

/// The values that `op` and its regions use, each once, in the order of their uses.
llvm::SetVector<Value> usedValues(Operation &op) {
  llvm::SetVector<Value> used(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), used);
  return used;
}

/// The text of `op` on arguments in place of the values that it uses, without locations.
std::string textOf(Operation &op, ArrayRef<Value> used) {
  OpBuilder builder(op.getContext());
  SmallVector<Type> types = llvm::map_to_vector(used, [](Value value) { return value.getType(); });
  OwningOpRef<func::FuncOp> function =
      func::FuncOp::create(builder, op.getLoc(), "op", builder.getFunctionType(types, {}));
  Block *block = function->addEntryBlock();
  IRMapping mapping;
  mapping.map(used, block->getArguments());
  builder.setInsertionPointToEnd(block);
  builder.clone(op, mapping);
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

} // namespace

void WeightOriginsPass::runOnOperation() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main"),
       prepare = getOperation().lookupSymbol<func::FuncOp>("prepare_weights");
  if (!main || !prepare || prepare.isExternal() || !prepare.getBody().hasOneBlock())
    return;
  Block &body = prepare.getBody().front();
  llvm::DenseMap<Value, std::string> origins;
  for (BlockArgument argument : body.getArguments())
    if (auto name =
            prepare.getArgAttrOfType<StringAttr>(argument.getArgNumber(), convoy::tcp::kWeightAttr))
      origins[argument] = hashOf(name.getValue());
  for (Operation &op : body.without_terminator()) {
    llvm::SetVector<Value> used = usedValues(op);
    std::string text = textOf(op, used.getArrayRef());
    for (Value value : used)
      text += origins.lookup(value);
    for (auto [index, result] : llvm::enumerate(op.getResults()))
      origins[result] = hashOf(text + std::to_string(index));
  }

  llvm::StringMap<StringAttr> byName;
  for (auto [index, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto name = prepare.getResultAttrOfType<StringAttr>(index, convoy::tcp::kPreparedAttr);
    if (!name)
      continue;
    auto origin = StringAttr::get(&getContext(), origins.lookup(value));
    prepare.setResultAttr(index, convoy::tcp::kOriginAttr, origin);
    byName[name.getValue()] = origin;
  }
  for (unsigned index : llvm::seq(main.getNumArguments()))
    if (auto name = main.getArgAttrOfType<StringAttr>(index, convoy::tcp::kPreparedAttr))
      if (StringAttr origin = byName.lookup(name.getValue()))
        main.setArgAttr(index, convoy::tcp::kOriginAttr, origin);
}
