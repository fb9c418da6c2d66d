// One kernel for a graph: a function of the library, the numbers that it is called with, and how it
// is launched.

#ifndef CONVOY_PASSES_KERNELS_VARIANT_H
#define CONVOY_PASSES_KERNELS_VARIANT_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/common/GpuChip.h"
#include "runtime/device/kernel_abi.h"
#include <cstring>
#include <type_traits>

namespace convoy {

/// Of sm_90: what a block may have of a multiprocessor's memory, and multiprocessors of the
/// largest, an H200.
constexpr int64_t kSharedBytes90 = 227 << 10, kMultiprocessors90 = 132;

struct Variant {
  std::string suffix;   ///< of the kernel's name, after the graph's
  std::string function; ///< of the library
  /// The function's pointers: tensors of the graph, its arguments first, then its results; or none.
  llvm::SmallVector<std::optional<unsigned>> tensors;
  /// The words of the struct of runtime/device/kernel_abi.h that the function takes behind them.
  llvm::SmallVector<int32_t> arguments;
  int64_t blocks = 0, threads = 0, sharedBytes = 0;
  /// Blocks of a cluster; blocks that a multiprocessor is to hold at a time.
  int64_t cluster = 1, residents = 1;
  llvm::StringRef onlyChip; ///< the one architecture that has the kernel's instructions; empty for
                            ///< every one from the graph's on
  bool tf32 = false;        ///< rounds factors of f32 to TF32

  template <typename Arguments> void setArguments(const Arguments &values) {
    static_assert(std::is_trivially_copyable_v<Arguments> && alignof(Arguments) == sizeof(int32_t));
    arguments.resize(sizeof(Arguments) / sizeof(int32_t));
    std::memcpy(arguments.data(), &values, sizeof(Arguments));
  }
};

/// Kernels for a graph, the most promising first, and whether that is a better guess than cuDNN's
/// first plan.
struct Offer {
  llvm::SmallVector<Variant, 0> variants;
  bool isPreferred = false;
};

/// The place of a tensor in the list of its graph's arguments.
inline unsigned placeOf(mlir::Value argument) {
  return mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
}

/// A size as a member of the structs of runtime/device/kernel_abi.h.
inline int word(int64_t value) { return static_cast<int>(value); }

/// What functions of the library call elements of `type`: f16, bf16 or f32.
inline llvm::StringRef libraryName(mlir::Type type) {
  return type.isF32() ? "f32" : type.isF16() ? "f16" : "bf16";
}

/// Whether there is a GPU of `chip` or newer that runs it.
bool runsFrom(const Variant &variant, llvm::StringRef chip);

/// Writes the kernel into a `gpu.module` of its own before the builder's place, and returns its
/// entry of `kKernelsAttr`. `chip` is the oldest architecture that will run it; clusters want
/// sm_90.
mlir::DictionaryAttr writeVariant(mlir::OpBuilder &builder, cudnn::GraphOp graph,
                                  const Variant &variant, llvm::StringRef chip);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_VARIANT_H
