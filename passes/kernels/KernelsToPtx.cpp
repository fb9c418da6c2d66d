// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles kernels to PTX, linked with the kernel library. LLVM takes a few hundredths of a second
// per kernel, so the kernels of a program are compiled in parallel, each with its own LLVMContext.

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "passes/Passes.h"
#include "passes/common/GpuChip.h"
#include "passes/kernels/KernelLibrary.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

namespace convoy {
#define GEN_PASS_DEF_KERNELSTOPTXPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct KernelsToPtxPass : public convoy::impl::KernelsToPtxPassBase<KernelsToPtxPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Describes the types of a function's arguments; structs passed by value by their size.
std::string argumentsOf(const llvm::Function &function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(function.args(), os, [&](const llvm::Argument &argument) {
    if (llvm::Type *type = argument.getParamByValType())
      os << "struct of " << function.getDataLayout().getTypeAllocSize(type).getFixedValue()
         << " bytes";
    else
      os << *argument.getType();
  });
  return text;
}

/// Compiles a gpu.module to PTX, null-terminated for the driver.
class PtxSerializer : public NVVM::SerializeGPUModuleBase {
public:
  using SerializeGPUModuleBase::SerializeGPUModuleBase;

  /// Loads the kernel library lazily: a function's body is read when a kernel calls it.
  std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
  loadBitcodeFiles(llvm::Module &module) override {
    ArrayRef<char> bytes = kernelLibrary();
    llvm::MemoryBufferRef buffer(StringRef(bytes.data(), bytes.size()), "convoy_device");
    SmallVector<std::unique_ptr<llvm::Module>> libraries;
    libraries.push_back(llvm::cantFail(llvm::getLazyBitcodeModule(buffer, module.getContext()),
                                       "the embedded kernel library"));
    if (failed(verifyCalls(module, *libraries.back())))
      return std::nullopt;
    return libraries;
  }

  /// Checks that the declarations of library functions in `module` match their definitions. The
  /// linker accepts any declaration, and the function would read wrong arguments.
  LogicalResult verifyCalls(llvm::Module &module, llvm::Module &library) {
    for (llvm::Function &declared : module) {
      if (!declared.isDeclaration() || !declared.getName().starts_with(kLibraryPrefix))
        continue;
      llvm::Function *defined = library.getFunction(declared.getName());
      if (!defined)
        return getOperation().emitOpError("expects functions of the kernel library, but calls '")
               << declared.getName() << "'";
      std::string expected = argumentsOf(*defined), found = argumentsOf(declared);
      if (expected != found)
        return getOperation().emitOpError("expects '")
               << declared.getName() << "' of the kernel library with the arguments (" << expected
               << "), but calls it with (" << found << ")";
    }
    return success();
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override {
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    auto ptx = translateModuleToISA(module, **machine, [&] { return getOperation().emitError(); });
    if (failed(ptx))
      return failure();
    // PTX is not linked again: a function without a body would fail when the module is loaded.
    if (ptx->str().contains(".extern .func"))
      return getOperation().emitOpError("expects kernels that only call the kernel library, but a "
                                        "function has no body");
    SmallVector<char, 0> object(ptx->begin(), ptx->end());
    object.push_back('\0');
    return object;
  }
};

/// The target that a module is compiled for.
FailureOr<NVVM::NVVMTargetAttr> targetOf(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  if (targets && targets.size() == 1)
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(targets[0])) {
      std::string error;
      if (succeeded(verifyKernelTarget(target.getTriple(), target.getChip(), target.getFeatures(),
                                       error)))
        return target;
      return module.emitOpError(error);
    }
  InFlightDiagnostic diagnostic =
      module.emitOpError("expects one target, an #nvvm.target, but got ");
  if (targets)
    return diagnostic << targets;
  return diagnostic << "none";
}

/// Compiles a module to the object of a gpu.binary.
FailureOr<Attribute> compileToPtx(gpu::GPUModuleOp module) {
  FailureOr<NVVM::NVVMTargetAttr> target = targetOf(module);
  if (failed(target))
    return failure();
  std::optional<SmallVector<char, 0>> ptx = PtxSerializer(*module, *target).run();
  if (!ptx)
    return failure();
  gpu::TargetOptions options(/*toolkitPath=*/{}, /*librariesToLink=*/{}, /*cmdOptions=*/{},
                             /*elfSection=*/{}, gpu::CompilationTarget::Assembly);
  return cast<gpu::TargetAttrInterface>(Attribute(*target)).createObject(module, *ptx, options);
}

} // namespace

void KernelsToPtxPass::runOnOperation() {
  NVVM::SerializeGPUModuleBase::init();
  auto modules = llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>());
  SmallVector<Attribute> objects(modules.size());
  auto compileOne = [&](size_t index) {
    FailureOr<Attribute> object = compileToPtx(modules[index]);
    if (succeeded(object))
      objects[index] = *object;
    return LogicalResult(object);
  };
  if (failed(failableParallelForEachN(&getContext(), 0, modules.size(), compileOne)))
    return signalPassFailure();
  OpBuilder builder(&getContext());
  auto handler = builder.getAttr<gpu::SelectObjectAttr>(nullptr);
  for (auto [module, object] : llvm::zip_equal(modules, objects)) {
    builder.setInsertionPointAfter(module);
    gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), handler, object);
    module->erase();
  }
}
