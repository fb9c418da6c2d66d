// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adds the program's interface to the manifest before names are lost: inputs, outputs and their
// places in the arena, weights, prepared weights, arena sizes.

#include "dialect/tcp/TcpOps.h"
#include "passes/Passes.h"
#include "passes/common/Manifest.h"

namespace convoy {
#define GEN_PASS_DEF_COLLECTMANIFESTPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct CollectManifestPass : public convoy::impl::CollectManifestPassBase<CollectManifestPass> {
  void runOnOperation() override;
};

/// Arguments of a function by their attribute.
struct Arguments {
  SmallVector<Attribute> inputs, weights, prepared, outputs;
  SmallVector<int64_t> offsets; ///< of the outputs in the arena
  int64_t arenaBytes = 0, liveBytes = 0;
};

FailureOr<Arguments> collect(func::FuncOp function) {
  Arguments found;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return function.emitError("expected arguments to be memrefs of static shape, but argument #")
             << index << " is " << argument.getType();
    if (function.getArgAttr(index, "tcp.arena")) {
      if (type.getRank() != 1 || !type.getElementType().isInteger(8))
        return function.emitError("expected the arena to have one dim of i8, but argument #")
               << index << " is " << type;
      found.arenaBytes = type.getDimSize(0);
      if (auto live = function.getArgAttrOfType<IntegerAttr>(index, convoy::tcp::kLiveBytesAttr))
        found.liveBytes = live.getInt();
      function.removeArgAttr(index, convoy::tcp::kLiveBytesAttr);
      continue;
    }
    if (convoy::torchDtype(type.getElementType()).empty())
      return function.emitError("expected element types of PyTorch, but argument #")
             << index << " is " << type;
    // Integers are signless here; those that were unsigned have an attribute.
    if (function.getArgAttr(index, convoy::tcp::kUnsignedAttr)) {
      if (!type.getElementType().isInteger(8))
        return function.emitError("expected 'tcp.unsigned' on elements of i8, but argument #")
               << index << " is " << type;
      type = MemRefType::get(type.getShape(),
                             IntegerType::get(type.getContext(), 8, IntegerType::Unsigned));
    }
    std::pair<StringRef, SmallVector<Attribute> *> kinds[] = {{"tcp.input", &found.inputs},
                                                              {"tcp.weight", &found.weights},
                                                              {"tcp.prepared", &found.prepared},
                                                              {"tcp.output", &found.outputs}};
    auto *kind = llvm::find_if(
        kinds, [&](const auto &each) { return function.getArgAttr(index, each.first); });
    if (kind == std::end(kinds))
      return function.emitError("expected every argument to be a tcp.input, tcp.weight, "
                                "tcp.prepared or tcp.output, but argument #")
             << index << " has none of these attributes";
    // The dialect's verifier ensures that it is a string.
    auto name = cast<StringAttr>(function.getArgAttr(index, kind->first));
    auto order = function.getArgAttrOfType<DenseI64ArrayAttr>(index, convoy::tcp::kDimOrderAttr);
    auto origin = function.getArgAttrOfType<StringAttr>(index, convoy::tcp::kOriginAttr);
    kind->second->push_back(convoy::describeTensor(name.getValue(), type, order, origin));
    auto offset = function.getArgAttrOfType<IntegerAttr>(index, convoy::tcp::kArenaOffsetAttr);
    if (offset)
      found.offsets.push_back(offset.getInt());
    function.removeArgAttr(index, convoy::tcp::kArenaOffsetAttr);
    function.removeArgAttr(index, convoy::tcp::kDimOrderAttr);
    function.removeArgAttr(index, convoy::tcp::kOriginAttr);
  }
  return found;
}

} // namespace

void CollectManifestPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main) {
    module.emitError("expected a function @main");
    return signalPassFailure();
  }
  auto prepare = module.lookupSymbol<func::FuncOp>("prepare_weights");
  FailureOr<Arguments> run = collect(main);
  FailureOr<Arguments> preparation = prepare ? collect(prepare) : FailureOr<Arguments>(Arguments());
  if (failed(run) || failed(preparation))
    return signalPassFailure();
  if (!run->weights.empty()) {
    main.emitError("expected prepared weights, but got ")
        << run->weights.size() << " original weights, which phase 'normalize' prepares";
    return signalPassFailure();
  }
  if (run->prepared != preparation->prepared) {
    main.emitError("expected the ")
        << preparation->prepared.size()
        << " prepared weights that @prepare_weights returns, in the same order, but got "
        << run->prepared.size();
    return signalPassFailure();
  }

  Builder builder(&getContext());
  auto set = [&](StringRef key, Attribute value) { convoy::setManifest(module, key, value); };
  auto target = main->getAttrOfType<StringAttr>(convoy::tcp::kTargetAttr);
  if (!target) {
    main.emitError("expected 'tcp.target'");
    return signalPassFailure();
  }
  set("target", target);
  set("inputs", builder.getArrayAttr(run->inputs));
  set("outputs", builder.getArrayAttr(run->outputs));
  set("weights", builder.getArrayAttr(preparation->weights));
  set("prepared", builder.getArrayAttr(run->prepared));
  if (!run->offsets.empty())
    set("output_offsets", builder.getI64ArrayAttr(run->offsets));
  set("arena_bytes", builder.getI64IntegerAttr(run->arenaBytes));
  set("live_bytes", builder.getI64IntegerAttr(run->liveBytes));
  set("prepare_arena_bytes", builder.getI64IntegerAttr(preparation->arenaBytes));
}
