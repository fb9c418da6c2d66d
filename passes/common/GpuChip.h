// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The GPU architectures that kernels are compiled for.

#ifndef CONVOY_PASSES_COMMON_GPUCHIP_H
#define CONVOY_PASSES_COMMON_GPUCHIP_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace convoy {

constexpr llvm::StringLiteral kNvptxTriple = "nvptx64-nvidia-cuda";
/// The architecture whose tensor cores runtime/device/wgmma.h uses. Newer GPUs do not run its code,
/// so only single kernels are compiled for it, never a whole program.
constexpr llvm::StringLiteral kWgmmaChip = "sm_90a";

/// The number in an architecture's name: 90 for `sm_90` and `sm_90a`; 0 for any other string.
unsigned chipNumber(llvm::StringRef chip);

/// Architectures that a program can be compiled for, oldest first: those of LLVM's NVPTX backend
/// from sm_80 on whose code newer GPUs run too. cuDNN 9.19 supports sm_75; the kernel library uses
/// instructions introduced with sm_80: cp.async and mma.m16n8k16.
const std::vector<std::string> &gpuChips();

/// Fails, with the reason in `error`, when `chip` is not one of `gpuChips`.
mlir::LogicalResult verifyChip(llvm::StringRef chip, std::string &error);

/// Emits an error without location when the option `chip` of a pass is not one of `gpuChips`.
mlir::LogicalResult verifyChipOption(llvm::StringRef chip, mlir::MLIRContext *context);

/// The LLVM feature that selects PTX 8.0. Empty from sm_100 on, where LLVM's minimum is newer.
llvm::StringRef ptx80For(llvm::StringRef chip);

/// Fails, with the reason in `error`, when LLVM cannot compile kernels for a module's target, for
/// which LLVM would abort the process.
mlir::LogicalResult verifyKernelTarget(llvm::StringRef triple, llvm::StringRef chip,
                                       llvm::StringRef features, std::string &error);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_GPUCHIP_H
