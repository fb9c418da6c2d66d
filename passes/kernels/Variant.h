// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A variant of a kernel for a graph: a function of the kernel library, its arguments and its launch
// configuration.

#ifndef CONVOY_PASSES_KERNELS_VARIANT_H
#define CONVOY_PASSES_KERNELS_VARIANT_H

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/common/GpuChip.h"
#include "runtime/device/kernel_abi.h"
#include <cstring>
#include <type_traits>

namespace convoy {

/// Limits of sm_90: shared memory of a block, and the number of multiprocessors of an H200, the
/// largest GPU.
constexpr int64_t kSharedBytes90 = 227 << 10, kMultiprocessors90 = 132;

/// A tensor that a kernel copies to shared memory in boxes, with the tensor memory accelerator. A
/// row of a box has 128 bytes, which are swizzled.
struct TensorMap {
  unsigned tensor;                  ///< number of a tensor of the graph, which is packed
  llvm::SmallVector<int64_t> shape; ///< into which the tensor is reshaped
  /// Of these dims; or pixels and channels, if windows of an image are copied.
  llvm::SmallVector<int64_t> box;
  /// For windows, for each of two or three spatial dims: padding before and after the image, the
  /// distance of the last tap from the first one, and that of neighboring windows. The shape then
  /// has the number of images, the spatial dims, the groups if there are some, and the channels.
  llvm::SmallVector<int64_t> low, high, reach, strides;
};

struct Variant {
  std::string suffix;   ///< follows the graph's name in the kernel's name
  std::string function; ///< name of the library function
  /// The function's pointers: numbers of tensors of the graph (arguments, then results), or null.
  llvm::SmallVector<std::optional<unsigned>> tensors;
  /// The tensor maps that the function takes after its pointers.
  llvm::SmallVector<TensorMap, 2> maps;
  /// The 32-bit words of the struct of runtime/device/kernel_abi.h, the function's last argument.
  llvm::SmallVector<int32_t> arguments;
  int64_t blocks = 0, threads = 0, sharedBytes = 0;
  /// Blocks per cluster; minimum number of resident blocks per multiprocessor, 0 if the compiler
  /// chooses.
  int64_t cluster = 1, residents = 0;
  llvm::StringRef onlyChip; ///< the only architecture that supports the kernel; empty if all
                            ///< architectures from the program's on do
  bool tf32 = false;        ///< rounds factors of f32 to TF32
  /// Number of launches, one after another. If there are several, the function takes the number of
  /// the launch before the struct.
  int64_t launches = 1;

  template <typename Arguments> void setArguments(const Arguments &values) {
    static_assert(std::is_trivially_copyable_v<Arguments> && alignof(Arguments) == sizeof(int32_t));
    arguments.resize(sizeof(Arguments) / sizeof(int32_t));
    std::memcpy(arguments.data(), &values, sizeof(Arguments));
  }
};

/// Kernels for a graph, most promising first, and whether the first one is preferred to cuDNN's
/// first plan without tuning.
struct Offer {
  llvm::SmallVector<Variant, 0> variants;
  bool isPreferred = false;
};

/// The number of a tensor among its graph's arguments.
inline unsigned placeOf(mlir::Value argument) {
  return mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
}

/// Converts a size to a member of the structs of runtime/device/kernel_abi.h.
inline int word(int64_t value) { return static_cast<int>(value); }

/// Name of `type` in names of library functions: f16, bf16 or f32.
inline llvm::StringRef libraryName(mlir::Type type) {
  return type.isF32() ? "f32" : type.isF16() ? "f16" : "bf16";
}

/// Whether a GPU of `chip` or newer can run it.
bool runsFrom(const Variant &variant, llvm::StringRef chip);

/// Creates a `gpu.module` with the kernel at the builder's insertion point, and returns its entry
/// of `kKernelsAttr`. `chip` is the oldest architecture that must run it; clusters require sm_90.
mlir::DictionaryAttr writeVariant(mlir::OpBuilder &builder, cudnn::GraphOp graph,
                                  const Variant &variant, llvm::StringRef chip);

} // namespace convoy

#endif // CONVOY_PASSES_KERNELS_VARIANT_H
