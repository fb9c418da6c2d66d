#include "passes/common/HostCpu.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace convoy {

/// Extensions that generated code may use. A short list, so that an artifact runs on more machines
/// than the one it was made on, and the loader can compare it with /proc/cpuinfo; f16 and bf16
/// arithmetic is done in f32, so that their extensions would add nothing.
static constexpr StringLiteral kUsed[] = {
    "avx",    "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl",
    "bmi",    "bmi2", "cx16",     "f16c",     "fma",      "lzcnt",   "movbe",
    "popcnt", "sse",  "sse2",     "sse3",     "sse4.1",   "sse4.2",  "ssse3"};

/// Part of every x86-64.
static constexpr StringLiteral kBaseline[] = {"64bit", "cmov", "cx8", "fxsr", "mmx", "x87"};

FailureOr<HostCpu> describeHostCpu(StringRef cpu, std::string &error) {
  HostCpu host;
  host.triple = llvm::sys::getDefaultTargetTriple();
  llvm::SmallVector<StringRef> on;
  llvm::SubtargetFeatures all;
  if (cpu == "native") {
    host.name = llvm::sys::getHostCPUName().str();
    // A machine may lack what its CPU's name promises (a hypervisor hides it), so every feature is
    // said.
    for (const auto &[name, enabled] : llvm::sys::getHostCPUFeatures()) {
      if (llvm::is_contained(kBaseline, name))
        continue;
      bool use = enabled && llvm::is_contained(kUsed, name);
      all.AddFeature(name, use);
      if (use)
        host.features.push_back(name.str());
    }
  } else {
    host.name = cpu.str();
    if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) {
      llvm::SmallVector<StringRef> names;
      llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
      llvm::raw_string_ostream(error) << "expected cpu to be 'native' or one of "
                                      << llvm::join(names, " ") << ", but got '" << cpu << "'";
      return failure();
    }
    llvm::X86::getFeaturesForCPU(cpu, on, /*NeedPlus=*/false);
    llvm::StringMap<bool> implied; // the list leaves out what others imply: avx2 stands for avx
    for (StringRef name : on) {
      implied[name] = true;
      llvm::X86::updateImpliedFeatures(name, /*Enabled=*/true, implied);
    }
    for (StringRef name : kUsed)
      if (implied.lookup(name))
        host.features.push_back(name.str());
  }
  llvm::sort(host.features);
  std::vector<std::string> flags = all.getFeatures();
  // Implications run both ways (+avx2 means +avx, -avx means -avx2), so what is off comes first.
  llvm::sort(flags, [](const std::string &a, const std::string &b) {
    return std::pair(a[0] == '+', a) < std::pair(b[0] == '+', b);
  });
  host.featureString = llvm::join(flags, ",");
  return host;
}

} // namespace convoy
