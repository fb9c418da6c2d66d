// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/HostCpu.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace convoy {

/// Extensions that generated code may use. The list is short, so that an artifact runs on many
/// machines and the loader can compare it with /proc/cpuinfo. f16 and bf16 arithmetic is done in
/// f32, so their extensions have no benefit.
static constexpr StringLiteral kUsed[] = {
    "avx",    "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl",
    "bmi",    "bmi2", "cx16",     "f16c",     "fma",      "lzcnt",   "movbe",
    "popcnt", "sse",  "sse2",     "sse3",     "sse4.1",   "sse4.2",  "ssse3"};

/// Features of every x86-64 CPU.
static constexpr StringLiteral kBaseline[] = {"64bit", "cmov", "cx8", "fxsr", "mmx", "x87"};

FailureOr<HostCpu> describeHostCpu(StringRef cpu, std::string &error) {
  HostCpu host;
  host.triple = llvm::sys::getDefaultTargetTriple();
  llvm::SmallVector<StringRef> on;
  llvm::SubtargetFeatures all;
  if (cpu == "native") {
    host.name = llvm::sys::getHostCPUName().str();
    // A hypervisor may hide features that the CPU's name implies, so every feature is listed.
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
    llvm::StringMap<bool> implied; // the list omits implied features: avx2 implies avx
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
  // Implications go both ways (+avx2 implies +avx, -avx implies -avx2), so disabled features come
  // first.
  llvm::sort(flags, [](const std::string &a, const std::string &b) {
    return std::pair(a[0] == '+', a) < std::pair(b[0] == '+', b);
  });
  host.featureString = llvm::join(flags, ",");
  return host;
}

} // namespace convoy
