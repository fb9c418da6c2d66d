// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Translation to LLVM IR, optimization and code generation.

#include "passes/emit/Emit.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/common/HostCpu.h"
#include "passes/common/Manifest.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace convoy {

namespace {

LogicalResult takePtx(ModuleOp module, Emitted &emitted) {
  for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>())) {
    if (binary.getObjects().size() != 1)
      return binary.emitError("expected one object, but got ") << binary.getObjects().size();
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    if (object.getFormat() != gpu::CompilationTarget::Assembly)
      return binary.emitError("expected the object to be assembly (PTX)");
    // Strip the null terminator, which is for the CUDA driver.
    emitted.ptx[binary.getSymName().str()] = object.getObject().getValue().rtrim('\0').str();
    binary.erase();
  }
  return success();
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const HostCpu &host, std::string &error) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple(host.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // fuses only where fast-math flags allow it
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, host.name, host.featureString, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

Attribute describe(const HostCpu &host, MLIRContext *context) {
  Builder builder(context);
  SmallVector<StringRef> features(host.features.begin(), host.features.end());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("triple", builder.getStringAttr(host.triple)),
       builder.getNamedAttr("cpu", builder.getStringAttr(host.name)),
       builder.getNamedAttr("features", builder.getStrArrayAttr(features))});
}

} // namespace

FailureOr<Emitted> emitModule(ModuleOp module, StringRef cpu) {
  std::string error;
  FailureOr<HostCpu> host = describeHostCpu(cpu, error);
  if (failed(host))
    return module.emitError(error);
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(*host, error);
  if (!machine)
    return module.emitError("no code generator for ") << host->triple << ": " << error;

  if (failed(manifestToJson(module))) // reports errors before the manifest is extended
    return failure();
  Emitted emitted;
  if (failed(takePtx(module, emitted)))
    return failure();
  setManifest(module, "host", describe(*host, module.getContext()));
  for (StringRef key : {"graphs", "calls", "kernels"})
    if (!getManifest(module, key))
      setManifest(module, key, ArrayAttr::get(module.getContext(), {}));
  FailureOr<std::string> manifest = manifestToJson(module);
  if (failed(manifest))
    return failure();
  emitted.manifest = std::move(*manifest);

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context, "convoy");
  if (!ir)
    return module.emitError("the module cannot be translated to LLVM IR");
  ir->setSourceFileName("convoy"); // no path of the compiling machine in the artifact
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());
  optimize(*ir, *machine);

  llvm::SmallVector<char, 0> object;
  {
    llvm::raw_svector_ostream os(object);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
      return module.emitError("no object files for ") << host->triple;
    passes.run(*ir);
  }
  const auto target = dyn_cast_or_null<StringAttr>(getManifest(module, "target"));
  const bool isCuda = target && target.getValue() == "cuda";
  if (!linkShared(StringRef(object.data(), object.size()), isCuda, emitted.native, error))
    return module.emitError("the native library does not link: ") << error;
  return emitted;
}

} // namespace convoy
