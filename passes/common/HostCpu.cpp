#include "passes/common/HostCpu.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace convoy {

FailureOr<HostCpu> describeHostCpu(StringRef cpu, std::string &error) {
  HostCpu host;
  host.triple = llvm::sys::getDefaultTargetTriple();
  llvm::SmallVector<StringRef> on;
  llvm::SubtargetFeatures all;
  if (cpu == "native") {
    host.name = llvm::sys::getHostCPUName().str();
    // A machine may lack what its CPU's name promises (a hypervisor hides it), so every feature is said.
    for (const auto &[name, enabled] : llvm::sys::getHostCPUFeatures()) {
      all.AddFeature(name, enabled);
      if (enabled)
        host.features.push_back(name.str());
    }
  } else {
    host.name = cpu.str();
    if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) {
      llvm::SmallVector<StringRef> names;
      llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
      llvm::raw_string_ostream(error) << "expected cpu to be 'native' or one of " << llvm::join(names, " ") << ", but got '" << cpu << "'";
      return failure();
    }
    llvm::X86::getFeaturesForCPU(cpu, on, /*NeedPlus=*/false);
    for (StringRef name : on)
      host.features.push_back(name.str());
  }
  llvm::sort(host.features);
  std::vector<std::string> flags = all.getFeatures();
  llvm::sort(flags);
  host.featureString = llvm::join(flags, ",");
  return host;
}

} // namespace convoy
