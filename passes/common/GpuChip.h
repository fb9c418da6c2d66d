// The GPU architectures that kernels are compiled for.

#ifndef CONVOY_PASSES_COMMON_GPUCHIP_H
#define CONVOY_PASSES_COMMON_GPUCHIP_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace convoy {

constexpr llvm::StringLiteral kNvptxTriple = "nvptx64-nvidia-cuda";
/// The one architecture whose tensor cores runtime/device/wgmma.h uses. No newer GPU runs its code,
/// so a program is never compiled for it; kernels in it are.
constexpr llvm::StringLiteral kWgmmaChip = "sm_90a";

/// The number of an architecture's name: 90 of `sm_90` and of `sm_90a`; 0 of what is no such name.
unsigned chipNumber(llvm::StringRef chip);

/// Architectures that a program can be compiled for, oldest first: those that LLVM's NVPTX back end
/// has and that newer GPUs run as well, from sm_80 on. cuDNN 9.19 has code from sm_75 on; the
/// library of kernels uses instructions that came with sm_80: cp.async and mma.m16n8k16.
const std::vector<std::string> &gpuChips();

/// Fails, with the reason in `error`, when `chip` is not one of `gpuChips`.
mlir::LogicalResult verifyChip(llvm::StringRef chip, std::string &error);

/// Emits an error, at no place, when the option `chip` of a pass is not one of `gpuChips`.
mlir::LogicalResult verifyChipOption(llvm::StringRef chip, mlir::MLIRContext *context);

/// The feature of LLVM's that makes PTX of version 8.0 at least. From sm_100 on the default is
/// newer, and LLVM takes no older version.
llvm::StringRef ptx80For(llvm::StringRef chip);

/// Fails, with the reason in `error`, when LLVM cannot compile kernels for a target that a module
/// names: LLVM ends the process then.
mlir::LogicalResult verifyKernelTarget(llvm::StringRef triple, llvm::StringRef chip,
                                       llvm::StringRef features, std::string &error);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_GPUCHIP_H
