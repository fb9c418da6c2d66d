// What one kernel does, before any code: the loops of a linalg op as sizes and linear addresses.
// Deciding here, on numbers, which loops become threads, which merge, and how many elements a
// thread takes keeps the code that emits kernels free of choices.

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/common/Buffers.h"

namespace convoy::gpu_codegen {

/// Threads of a block, for every kernel.
inline constexpr int64_t kBlockThreads = 256;
/// Threads that exchange values by shuffles.
inline constexpr int64_t kWarpThreads = 32;

/// One loop of a kernel, made of one loop of the op, or of several that are one loop to every
/// address.
struct KernelLoop {
  int64_t size = 1;
  unsigned dim = 0; ///< the innermost loop of the op in it
  llvm::SmallVector<int64_t>
      steps;         ///< elements that each operand's address moves when the index grows by one
  int64_t low = 0;   ///< iterations before the op's own, which write the padding value
  int64_t inner = 1; ///< iterations of the op

  bool isPadded() const { return inner != size; }
};

/// One operand of the op.
struct KernelOperand {
  mlir::Value value;            ///< a memref, or a scalar
  std::optional<Buffer> buffer; ///< of a memref
  mlir::AffineExpr address;     ///< in elements from the root, over the op's loops
  bool isRead = true;           ///< whether the payload reads it
  int64_t start = 0;            ///< the address at index zero, when `isLinear`
  bool isLinear = true;
};

/// A box around the op's result that the same kernel fills: sizes of the whole and where the op's
/// part begins, one a loop of the op.
struct Padding {
  llvm::SmallVector<int64_t> sizes, lows;
  mlir::Value value;
};

struct KernelMapping {
  mlir::linalg::LinalgOp op;
  mlir::linalg::LinalgOp epilogue; ///< a pointwise op on the result, or null; the result itself
                                   ///< then stays in registers
  std::string name;                ///< what it does, for people: "transpose_cast"
  llvm::SmallVector<KernelOperand> operands; ///< inputs, inits, then the epilogue's inputs and init
  int64_t numInputs = 0;
  int64_t firstOutput = 0; ///< first operand that the kernel writes
  llvm::SmallVector<KernelLoop>
      parallel; ///< outermost first; the last one walks the output's innermost dim
  llvm::SmallVector<KernelLoop> reduction;
  llvm::SmallVector<mlir::Value>
      inits; ///< one an output: a constant that replaces what the output holds, or null
  std::optional<mlir::Value> padding;  ///< the value around the op's own part
  int64_t lanes = 1;                   ///< elements of the last parallel loop that one thread takes
  mlir::Operation *combiner = nullptr; ///< set when several threads share one reduction
  int64_t reducers =
      1; ///< threads that share it: a warp or a part of one, or with `columns` a part of a block
  int64_t columns =
      0;            ///< neighbouring outputs that a block makes when it reduces down columns, or 0
  int64_t tile = 0; ///< edge of the square that a block transposes through shared memory, or 0
  unsigned tileLoop = 0; ///< the parallel loop along which the transposed inputs are contiguous

  int64_t threads() const;
  /// Whether an input goes through the block's square.
  bool isTransposed(unsigned operand) const {
    return tile != 0 && int64_t(operand) < numInputs && operands[operand].buffer &&
           operands[operand].isRead && parallel[tileLoop].steps[operand] == 1 &&
           parallel.back().steps[operand] > 1;
  }
  int64_t numResults() const { return inits.size(); } ///< values that `op` computes for each point
};

/// Alignment in bytes of `lanes` elements that one instruction moves.
int64_t vectorAlignment(mlir::Type elementType, int64_t lanes);

/// Whether a thread's `lanes` elements of an operand are contiguous and aligned.
bool isVectorAccess(const KernelMapping &plan, unsigned operand, int64_t lanes);

/// Decides how many elements a thread of `plan`, whose loops and operands are known, takes, and
/// which threads share a reduction or a transposition, if they `mayShare`.
void spreadOverThreads(KernelMapping &plan, bool mayShare);

/// Plans the kernel of `op`, a linalg op on static memrefs. `inits` as in KernelMapping. `epilogue`
/// may be null; else it is parallel in all loops, reads the one result of `op`, possibly without
/// its unit dims, and `inits` has its start. Emits an error that names what it cannot express.
mlir::FailureOr<KernelMapping> chooseMapping(mlir::linalg::LinalgOp op,
                                             llvm::ArrayRef<mlir::Value> inits,
                                             const Padding *padding,
                                             mlir::linalg::LinalgOp epilogue);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H
