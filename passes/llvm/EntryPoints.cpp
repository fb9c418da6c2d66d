// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adds the functions of runtime/abi/convoy_abi.h that the loader looks up. They unpack pointer
// arrays into the arguments of @main and @prepare_weights, and return the sizes of the buffers.

#include "dialect/tcp/TcpOps.h"
#include "passes/Passes.h"
#include "runtime/abi/convoy_abi.h"

namespace convoy {
#define GEN_PASS_DEF_ENTRYPOINTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;

namespace {

struct EntryPointsPass : public convoy::impl::EntryPointsPassBase<EntryPointsPass> {
  void runOnOperation() override;
};

/// The source of an argument of an inner function: the attribute that marks it, and the parameter
/// of the entry point.
struct Source {
  StringRef attribute;
  unsigned parameter;
  bool array; ///< whether the parameter is an array with one pointer per argument, or the pointer
              ///< itself
};

constexpr StringLiteral kBytes = "tcp.bytes";
constexpr Source kMainSources[] = {{"tcp.input", 1, true},
                                   {"tcp.prepared", 2, true},
                                   {"tcp.output", 3, true},
                                   {"tcp.arena", 4, false}};
constexpr Source kPrepareSources[] = {
    {"tcp.weight", 0, true}, {"tcp.prepared", 1, true}, {"tcp.arena", 2, false}};

/// Sizes in bytes of the arguments of an inner function, by their attribute.
using Sizes = llvm::StringMap<SmallVector<int64_t>>;

/// Adds the entry point `name`, which calls `inner`. If `takesRuntime`, the first argument of
/// `inner` is the runtime's table, parameter 0. Adds the sizes of all other arguments to `sizes`.
LogicalResult addEntryPoint(ModuleOp module, StringRef name, LLVM::LLVMFuncOp inner,
                            unsigned parameters, ArrayRef<Source> sources, bool takesRuntime,
                            Sizes &sizes) {
  MLIRContext *context = module.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i32 = IntegerType::get(context, 32);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = inner.getLoc();
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(i32, SmallVector<Type>(parameters, pointer)));
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);

  SmallVector<int32_t> next(parameters, 0);
  SmallVector<Value> arguments;
  for (unsigned index = 0; index < inner.getNumArguments(); ++index) {
    if (takesRuntime && index == 0) {
      arguments.push_back(block->getArgument(0));
      continue;
    }
    const Source *source = llvm::find_if(sources, [&](const Source &each) {
      return static_cast<bool>(inner.getArgAttr(index, each.attribute));
    });
    if (source == sources.end()) {
      InFlightDiagnostic diag = inner.emitError("expected argument #")
                                << index << " of @" << inner.getName() << " to be one of";
      for (const Source &each : sources)
        diag << " " << each.attribute;
      return diag;
    }
    auto bytes = inner.getArgAttrOfType<IntegerAttr>(index, kBytes);
    if (!bytes)
      return inner.emitError("expected argument #")
             << index << " of @" << inner.getName() << " to have " << kBytes;
    sizes[source->attribute].push_back(bytes.getInt());
    inner.removeArgAttr(index, builder.getStringAttr(kBytes));
    inner.removeArgAttr(index, builder.getStringAttr(source->attribute));
    Value from = block->getArgument(source->parameter);
    if (source->array) {
      Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, from,
                                       ArrayRef<LLVM::GEPArg>{next[source->parameter]++});
      from = LLVM::LoadOp::create(builder, loc, pointer, slot);
    }
    arguments.push_back(from);
  }
  auto call = LLVM::CallOp::create(builder, loc, inner, arguments);
  Value status = call.getNumResults() ? call.getResult()
                                      : LLVM::ConstantOp::create(builder, loc, i32, 0).getResult();
  LLVM::ReturnOp::create(builder, loc, status);
  return success();
}

/// Adds `convoy_sizes`: @main takes an arena, inputs, prepared weights and outputs,
/// @prepare_weights an arena and weights.
void addSizes(ModuleOp module, const Sizes &main, const Sizes &prepare) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<int64_t> numbers = {0};
  for (const Sizes *each : {&main, &prepare})
    numbers.push_back(llvm::sum_of(each->lookup("tcp.arena")));
  const std::pair<const Sizes &, StringRef> lists[] = {
      {main, "tcp.input"}, {prepare, "tcp.weight"}, {main, "tcp.prepared"}, {main, "tcp.output"}};
  for (const auto &[sizes, attribute] : lists) {
    SmallVector<int64_t> list = sizes.lookup(attribute);
    numbers.push_back(list.size());
    llvm::append_range(numbers, list);
  }
  numbers.front() = numbers.size() - 1;
  Location loc = module.getLoc();
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), numbers.size());
  auto data =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                             "convoy_sizes_data", builder.getI64TensorAttr(numbers));
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto function = LLVM::LLVMFuncOp::create(builder, loc, "convoy_sizes",
                                           LLVM::LLVMFunctionType::get(pointer, {}));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  LLVM::ReturnOp::create(builder, loc, LLVM::AddressOfOp::create(builder, loc, data));
}

} // namespace

void EntryPointsPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<LLVM::LLVMFuncOp>("main");
  auto prepare = module.lookupSymbol<LLVM::LLVMFuncOp>("prepare_weights");
  if (!main) {
    module.emitError("expected a function @main");
    return signalPassFailure();
  }
  bool cuda = convoy::tcp::getTarget(main) == convoy::tcp::Target::Cuda;
  Sizes mainSizes, prepareSizes;
  if (failed(addEntryPoint(module, "convoy_main", main, 5, kMainSources, cuda, mainSizes)))
    return signalPassFailure();

  MLIRContext *context = &getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto i32 = IntegerType::get(context, 32);
  if (prepare) {
    if (failed(addEntryPoint(module, "convoy_prepare_weights", prepare, 3, kPrepareSources, false,
                             prepareSizes)))
      return signalPassFailure();
  } else {
    // Every artifact has all functions, even if there are no weights to prepare.
    auto pointer = LLVM::LLVMPointerType::get(context);
    auto entry =
        LLVM::LLVMFuncOp::create(builder, module.getLoc(), "convoy_prepare_weights",
                                 LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer}));
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
    LLVM::ReturnOp::create(builder, module.getLoc(),
                           LLVM::ConstantOp::create(builder, module.getLoc(), i32, 0));
    builder.setInsertionPointToEnd(module.getBody());
  }
  auto version = LLVM::LLVMFuncOp::create(builder, module.getLoc(), "convoy_abi_version",
                                          LLVM::LLVMFunctionType::get(i32, {}));
  builder.setInsertionPointToStart(version.addEntryBlock(builder));
  LLVM::ReturnOp::create(
      builder, module.getLoc(),
      LLVM::ConstantOp::create(builder, module.getLoc(), i32, CONVOY_ABI_VERSION));
  addSizes(module, mainSizes, prepareSizes);
}
