// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mapping of a linalg op to a kernel: its loops as sizes and linear addresses. All decisions
// (which loops become threads, which loops merge, how many elements a thread computes) are made
// here, before code is emitted.

#ifndef CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H
#define CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/common/RowRegion.h"

namespace convoy::gpu_codegen {

/// Threads per block, unless a whole block shares a row, or columns.
inline constexpr int64_t kBlockThreads = 256;
/// Threads that exchange values by shuffles.
inline constexpr int64_t kWarpThreads = 32;
/// Threads of a block at most.
inline constexpr int64_t kMostThreads = 1024;
/// Threads that fill a large GPU.
inline constexpr int64_t kEnoughThreads = 1 << 15;

/// A loop of a kernel: a loop of the op, several merged loops, or a part of one.
struct KernelLoop {
  int64_t size = 1;
  unsigned dim = 0;                 ///< the innermost of its loops of the op
  int64_t dimStep = 1;              ///< step of that loop's index per iteration
  llvm::SmallVector<int64_t> steps; ///< step of each operand's address per iteration, in elements
  int64_t low = 0;   ///< iterations before those of the op, which write the padding value
  int64_t inner = 1; ///< iterations of the op

  bool isPadded() const { return inner != size; }
};

/// One operand of the op.
struct KernelOperand {
  mlir::Value value;            ///< a memref, or a scalar
  std::optional<Buffer> buffer; ///< if it is a memref
  mlir::AffineExpr address;     ///< in elements from the root, over the op's loops
  bool isRead = true;           ///< whether the payload reads it
  int64_t start = 0;            ///< the address at index zero, when `isLinear`
  bool isLinear = true;
};

/// Padding around the op's result that the same kernel writes: the padded sizes and the offsets of
/// the op's result, one per loop of the op.
struct Padding {
  llvm::SmallVector<int64_t> sizes, lows;
  mlir::Value value;
};

/// How threads compute a region row by row.
struct RowMapping {
  RowRegion region;
  /// For each op the operands of the kernel that its inputs are, in order, where they are memory.
  llvm::SmallVector<llvm::SmallVector<std::optional<unsigned>>, 0> inputs;
  /// For each op the operand that its result is stored to, or nullopt.
  llvm::SmallVector<std::optional<unsigned>> outputs;
  int64_t width = 1; ///< neighboring elements that a thread loads and stores at once
  /// If rows may begin and end between aligned groups of `width` elements: an operand whose rows
  /// begin as far from one as those of all others that are read or written in groups. The elements
  /// before the first whole group and after the last one are at most one more per thread.
  std::optional<unsigned> unaligned;
  int64_t sharers = 1; ///< threads that share a row: a part of a warp, or whole warps
  int64_t columns = 1; ///< neighboring rows of a block, which neighboring threads have; with others
                       ///< than one, `columns` * `sharers` are whole warps
  /// Steps of the outer of two loops over elements from a group of a thread to the next, if they
  /// differ in no other index, else 0.
  int64_t outerStep = 0;
  bool isResident = true; ///< whether the elements of a row stay in registers
  /// The input of which they stay there as they are in memory, two in each register: what is
  /// computed of them is computed again in each pass over the row.
  std::optional<unsigned> packed;

  /// Warps that exchange values of rows.
  int64_t warps() const { return sharers * columns / kWarpThreads; }
  /// Groups of `width` elements of a row, at most and at least.
  int64_t groups() const { return region.length() / width; }
  int64_t leastGroups() const { return (region.length() - (unaligned ? width - 1 : 0)) / width; }
  /// Groups, and elements in groups, of a thread of a row at most, if `threads` share the row.
  int64_t groupsOf(int64_t threads) const { return llvm::divideCeil(groups(), threads); }
  int64_t elementsOf(int64_t threads) const { return groupsOf(threads) * width; }
};

/// A load of the payload whose elements, for the lanes of a thread and all iterations of the
/// unrolled loops, are a run in each row of its memory (WindowRuns.h).
struct RunLoad {
  /// Elements that are loaded at once: `width` of them from the offset `begin`.
  struct Group {
    int64_t begin, width;
  };

  mlir::memref::LoadOp load;
  /// The innermost index, before it is clamped: `start` plus that step per iteration of each loop
  /// of the op. From one lane and iteration of an unrolled loop to the next it moves by
  /// `laneStep` and `turnSteps`, and of these and `start` consist offsets into the run.
  llvm::SmallVector<int64_t> steps;
  int64_t start = 0, laneStep = 0;
  llvm::SmallVector<int64_t> turnSteps;
  llvm::SmallVector<bool> rows; ///< of each unrolled loop, whether its iterations are other rows
  /// No element of a group is outside of its row. Other elements are loaded one by one, from where
  /// the payload clamps their index.
  llvm::SmallVector<Group> groups;

  bool isShared = false; ///< whether several windows have an element

  int64_t offset(int64_t lane, llvm::ArrayRef<int64_t> turn) const;
};

struct KernelMapping {
  mlir::linalg::LinalgOp op;       ///< of a region the last one
  mlir::linalg::LinalgOp epilogue; ///< an elementwise op on the result, which stays in registers,
                                   ///< or null
  std::string name;                ///< descriptive name, e.g. "transpose_cast"
  llvm::SmallVector<KernelOperand> operands; ///< inputs, inits, then the epilogue's inputs and init
  int64_t numInputs = 0;
  int64_t firstOutput = 0; ///< first operand that the kernel writes
  llvm::SmallVector<KernelLoop>
      parallel; ///< outermost first; the last one iterates over the output's innermost dim
  llvm::SmallVector<KernelLoop> reduction;
  llvm::SmallVector<mlir::Value>
      inits; ///< for each output a constant that replaces its initial value, or null
  std::optional<mlir::Value> padding; ///< the padding value
  int64_t lanes = 1; ///< neighboring results per thread: iterations of the last parallel loop, or
                     ///< all of them for several of the loop before it; of a square the elements
                     ///< that a thread loads or stores at once
  /// Parallel loops whose iterations read the same elements, or share the arithmetic of their
  /// addresses: each thread computes all of them.
  llvm::SmallVector<unsigned> repeated;
  /// For each result the op that combines two partial results, if several threads share a
  /// reduction.
  llvm::SmallVector<mlir::Operation *> combiners;
  int64_t reducers = 1; ///< threads that share it: a part of a warp, or whole warps, or with
                        ///< `columns` a part of a block
  int64_t columns = 0;  ///< threads of a block with neighboring outputs, of `lanes` each, in a
                        ///< column reduction, or 0
  /// The innermost loops of the reduction that a thread unrolls, so that it can load `runs`.
  unsigned unrolled = 0;
  llvm::SmallVector<RunLoad, 0> runs;
  int64_t tile = 0;      ///< edge of the square that a block transposes through shared memory, or 0
  unsigned tileLoop = 0; ///< the parallel loop along which the transposed inputs are contiguous

  std::optional<RowMapping> rows; ///< of a region of rows; the loops over rows are `parallel`

  int64_t threads() const;
  /// Iterations of the repeated loops together.
  int64_t repeats() const {
    int64_t count = 1;
    for (unsigned loop : repeated)
      count *= parallel[loop].size;
    return count;
  }
  /// The parallel loops; the repeated ones have one iteration.
  llvm::SmallVector<KernelLoop> loopsOverThreads() const;
  /// Splits a parallel loop, so that each thread computes `count` neighboring iterations.
  void repeatPart(unsigned loop, int64_t count);
  /// Iterations of a parallel loop of which a thread has elements, if it has `lanes`.
  int64_t iterations(size_t loop, int64_t lanes) const;
  /// The iteration of a parallel loop that `lane` is in, from that of the thread's first element.
  int64_t iterationOf(size_t loop, int64_t lane) const;
  /// The address of a lane's element of an operand, from that of the thread's first element.
  int64_t laneOffset(unsigned operand, int64_t lane) const;
  /// All iterations of the unrolled loops, in order.
  llvm::SmallVector<llvm::SmallVector<int64_t>> turns() const;
  /// Threads of a block.
  int64_t blockThreads() const {
    if (rows && rows->columns != 1)
      return rows->sharers * rows->columns;
    int64_t sharers = rows ? rows->sharers : reducers;
    if (columns)
      return reducers * columns;
    return sharers > kWarpThreads ? sharers : kBlockThreads;
  }
  int64_t blocks() const { return llvm::divideCeil(threads(), blockThreads()); }
  /// Whether registers must suffice for two blocks at a time on a multiprocessor.
  bool runsInPairs() const { return rows && rows->packed && rows->sharers <= kMostThreads / 2; }
  /// Threads of a warp that share a result of a column reduction.
  int64_t columnReducersOfWarp() const { return std::max<int64_t>(1, kWarpThreads / columns); }
  /// Whether an input is transposed through shared memory.
  bool isTransposed(unsigned operand) const {
    return tile != 0 && int64_t(operand) < numInputs && operands[operand].buffer &&
           operands[operand].isRead && parallel[tileLoop].steps[operand] == 1 &&
           parallel.back().steps[operand] > 1;
  }
  int64_t numResults() const { return inits.size(); } ///< number of results of `op`
};

/// A descriptive name of what `op` computes, e.g. "transpose_cast".
std::string describe(mlir::linalg::LinalgOp op);

/// Whether `width` elements of an operand of a region of rows, along the last loop, are contiguous
/// and aligned, or as far from that as those of the operand `unaligned`.
bool isRowVector(const KernelMapping &plan, unsigned operand, int64_t width);

/// Alignment in bytes of an access to `lanes` elements by one instruction.
int64_t vectorAlignment(mlir::Type elementType, int64_t lanes);

/// Whether a thread's `lanes` elements of an operand are contiguous and aligned.
bool isVectorAccess(const KernelMapping &plan, unsigned operand, int64_t lanes);

/// Whether `lanes` elements along the parallel loop `loop` are.
bool isVectorAlong(const KernelMapping &plan, unsigned loop, unsigned operand, int64_t lanes);

/// Whether most inputs that vary along `elements` are the same in all of the few iterations of
/// `loop`.
bool readsSame(const KernelMapping &plan, const KernelLoop &elements, const KernelLoop &loop);

/// Each thread computes all iterations of a loop that reads the same elements in each, as sums of
/// products with different weights, if there are enough threads without it.
void repeatForSharedReads(KernelMapping &plan);

/// Each thread computes neighboring iterations of loops whose indices are divided by a constant, as
/// those of resized images, if there are enough threads without them: they load many of the same
/// elements.
void repeatForSharedSteps(KernelMapping &plan);

/// Threads that would store less than 16 bytes, because rows are not aligned, compute several
/// iterations of a loop in which only addresses differ. They share the arithmetic on the other
/// indices, as of padding, which would take more time than memory.
void repeatForSharedIndices(KernelMapping &plan);

/// Bytes of an element of the output that has the largest ones.
int64_t widestOutput(const KernelMapping &plan);

/// Chooses how many elements a thread of `plan`, whose loops and operands are set, computes; if
/// they `mayShare`, which threads share a reduction; and if its iterations `mayMove` to other
/// threads, which ones share a transpose.
void spreadOverThreads(KernelMapping &plan, bool mayShare, bool mayMove);

/// Chooses the mapping of `op`, a linalg op on static memrefs. `inits` are as in KernelMapping.
/// `epilogue` may be null; otherwise it has only parallel loops and reads the only result of `op`,
/// possibly without its unit dims, and `inits` has its initial value. Emits an error for
/// unsupported ops.
mlir::FailureOr<KernelMapping> chooseMapping(mlir::linalg::LinalgOp op,
                                             llvm::ArrayRef<mlir::Value> inits,
                                             const Padding *padding,
                                             mlir::linalg::LinalgOp epilogue);

/// Lets registers have the elements of a long row as they are in memory, if that lets two blocks
/// run at a time on a multiprocessor, or registers hold the row at all. Changes the threads that
/// share a row.
void packRow(KernelMapping &plan);

/// Lets registers have the elements of several neighboring rows of a block as they are in memory,
/// if they would not hold them otherwise, and if two blocks run at a time on a multiprocessor.
/// Returns whether they do.
bool packColumns(KernelMapping &plan);

/// Chooses the mapping of a region of rows.
KernelMapping chooseRowMapping(const RowRegion &region);

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_KERNELMAPPING_H
