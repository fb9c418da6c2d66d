// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The CPU that native code is compiled for: LLVM's CPU name and features.

#ifndef CONVOY_PASSES_COMMON_HOSTCPU_H
#define CONVOY_PASSES_COMMON_HOSTCPU_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace convoy {

struct HostCpu {
  std::string triple;
  std::string name;                  ///< LLVM's CPU name, never "native"
  std::vector<std::string> features; ///< extensions that generated code may use, sorted

  /// `+avx2,-sse4a,...` with every feature that LLVM lists for this machine, for a TargetMachine.
  std::string featureString;

  bool has(llvm::StringRef feature) const { return llvm::is_contained(features, feature); }
  /// Width of a vector register in bits, and the number of vector registers.
  int64_t vectorBits() const { return has("avx512f") ? 512 : has("avx") ? 256 : 128; }
  int64_t vectorRegisters() const { return has("avx512f") ? 32 : 16; }
};

/// Describes `cpu`, an LLVM CPU name or "native" for this machine. Fails, with the reason in
/// `error`, for an unknown name.
mlir::FailureOr<HostCpu> describeHostCpu(llvm::StringRef cpu, std::string &error);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_HOSTCPU_H
