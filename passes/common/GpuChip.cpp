// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/GpuChip.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace convoy {

/// The oldest architecture that the kernel library supports.
static constexpr unsigned kOldest = 80;
/// Thor's number before CUDA 13, which renames it to sm_110 and drops this name.
static constexpr unsigned kRenamed = 101;

unsigned chipNumber(StringRef chip) {
  unsigned number = 0;
  bool isName = chip.consume_front("sm_") && !chip.consumeInteger(10, number);
  return isName ? number : 0;
}

/// Whether newer GPUs run its code too. A name that ends in a letter is specific to an architecture
/// or a family.
static bool isBaseline(StringRef chip) { return llvm::isDigit(chip.back()); }

const std::vector<std::string> &gpuChips() {
  static const std::vector<std::string> chips = [] {
    NVVM::SerializeGPUModuleBase::init();
    std::vector<std::string> names;
    llvm::Triple triple(kNvptxTriple);
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    assert(target && "convoy is linked with LLVM's NVPTX backend");
    std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, "", ""));
    for (const llvm::SubtargetSubTypeKV &each : info->getAllProcessorDescriptions()) {
      StringRef name = each.Key;
      if (unsigned number = chipNumber(name);
          number >= kOldest && number != kRenamed && isBaseline(name))
        names.push_back(name.str());
    }
    llvm::sort(names, [](StringRef a, StringRef b) { return chipNumber(a) < chipNumber(b); });
    return names;
  }();
  return chips;
}

LogicalResult verifyChip(StringRef chip, std::string &error) {
  if (llvm::is_contained(gpuChips(), chip))
    return success();
  llvm::raw_string_ostream(error)
      << "expected chip to be an architecture that the kernels can be compiled for, one of "
      << llvm::join(gpuChips(), ", ") << ", but got '" << chip << "'";
  return failure();
}

LogicalResult verifyChipOption(StringRef chip, MLIRContext *context) {
  std::string error;
  if (succeeded(verifyChip(chip, error)))
    return success();
  return emitError(UnknownLoc::get(context), error);
}

StringRef ptx80For(StringRef chip) { return chipNumber(chip) < 100 ? "+ptx80" : ""; }

LogicalResult verifyKernelTarget(StringRef triple, StringRef chip, StringRef features,
                                 std::string &error) {
  llvm::raw_string_ostream os(error);
  if (triple != kNvptxTriple)
    os << "expects a target of triple '" << kNvptxTriple << "', but got '" << triple << "'";
  else if (chip != kWgmmaChip && failed(verifyChip(chip, error)))
    return failure();
  else if (!features.empty() && features != ptx80For(chip))
    os << "expects a target without features"
       << (ptx80For(chip).empty() ? "" : ", or with '+ptx80'") << ", but got '" << features << "'";
  return success(error.empty());
}

} // namespace convoy
