// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class that emits a kernel: arguments and body (KernelEmit.cpp), code of single threads
// (EmitThread.cpp), payloads (EmitPayload.cpp), memory accesses (EmitMemory.cpp), loads of runs
// (EmitRuns.cpp), code in which the threads of a warp or a block cooperate (EmitShared.cpp), and
// regions of rows (RowEmitter.h).

#ifndef CONVOY_PASSES_GPU_CODEGEN_EMITTER_H
#define CONVOY_PASSES_GPU_CODEGEN_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/gpu_codegen/Kernel.h"
#include "passes/gpu_codegen/KernelMapping.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <vector>

namespace convoy::gpu_codegen {

/// Emits a kernel, or one of its bodies.
class Emitter {
public:
  Emitter(const KernelMapping &plan, mlir::OpBuilder &builder)
      : plan(plan), op(plan.op), b(builder), loc(op.getLoc()) {}

  /// Emits the kernel whose blocks compute `plans`, one after another.
  static mlir::FailureOr<Kernel> emit(llvm::ArrayRef<KernelMapping> plans, mlir::OpBuilder &builder,
                                      llvm::StringRef name);
  /// Adds the types of the body's shared memory.
  void shareMemory(llvm::SmallVectorImpl<mlir::Type> &shared) const;

private:
  friend class RowEmitter;
  using Lanes = llvm::SmallVector<mlir::Value>;
  struct Indices {
    llvm::SmallVector<mlir::Value> parallel, reduction;
  };
  /// What the values and dims of a payload are for one lane.
  struct LaneMapping {
    int64_t number;
    mlir::IRMapping mapping;
    llvm::SmallVector<mlir::Value> dims;
  };

  mlir::LogicalResult collectArguments();
  /// Emits the branches from a block of the kernel to its body. `first` is the first block of
  /// `bodies`.
  static void emitBodies(llvm::ArrayRef<std::unique_ptr<Emitter>> bodies, int64_t first,
                         mlir::Value block, mlir::Value own);
  /// Emits the body. `block` counts from the first block of the body.
  void emitBody(mlir::Value block, mlir::Value own);
  void emitRowReduction(mlir::Value thread);
  void emitColumnReduction(mlir::Value block, mlir::Value thread);
  Lanes reduceShare(mlir::Value first, Indices indices);
  void combineLanes(Lanes &shares, int64_t first, int64_t last);
  void storeShares(llvm::ArrayRef<mlir::Value> shares, llvm::ArrayRef<mlir::Value> where);
  Lanes combineRows(int64_t rows, llvm::ArrayRef<mlir::Value> column);
  mlir::scf::IfOp enterIf(mlir::Value condition);
  mlir::Value isZero(mlir::Value value);
  void storeTotals(Lanes totals, Indices indices);
  mlir::Value combine(mlir::Operation *combiner, mlir::Value x, mlir::Value y);
  void emitRows(mlir::Value thread);
  void emitThread(mlir::Value thread);
  void emitRepeated(mlir::Value thread);
  void emitTiles(mlir::Value block, mlir::Value thread);
  Lanes computeOutputs(const Indices &indices, llvm::ArrayRef<int64_t> activeLanes);
  /// The lanes of each input; null if the payload does not read it.
  llvm::SmallVector<Lanes> loadInputs(const Indices &indices, llvm::ArrayRef<int64_t> activeLanes);
  /// The payload of `inputs` and of the results so far, `carried`, which are those of all lanes of
  /// the first result, then of the next one.
  Lanes reduceOne(llvm::ArrayRef<Lanes> inputs, mlir::ValueRange carried, const Indices &indices,
                  llvm::ArrayRef<int64_t> activeLanes);

  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<KernelLoop> loops,
                                             int64_t lanes);
  mlir::Value address(unsigned operand, const Indices &indices, int64_t lane);
  mlir::Value address(mlir::memref::LoadOp load, const Buffer &buffer,
                      const mlir::IRMapping &mapping);
  mlir::Value loadOne(unsigned operand, const Indices &indices, int64_t lane);
  /// The alignment of an element that follows from the steps of the loops, if it is more than that
  /// of its type. LLVM merges loads of neighboring elements if it is known.
  llvm::MaybeAlign alignment(unsigned operand, int64_t lane);
  Lanes loadLanes(unsigned operand, const Indices &indices, llvm::ArrayRef<int64_t> activeLanes);
  /// A vector load of `width` contiguous elements, from that of `lane`.
  Lanes loadVector(unsigned operand, const Indices &indices, int64_t lane, int64_t width);
  /// A vector load of `width` elements from `where`. By default they are aligned as a vector.
  Lanes loadVector(const Buffer &buffer, mlir::Value where, int64_t width,
                   llvm::MaybeAlign alignment = {});
  /// Copies an even number of 16-bit values by moves of 32-bit words that LLVM does not look into.
  /// If `everyTime`, equal moves are not merged.
  Lanes moveWords(llvm::ArrayRef<mlir::Value> values, bool everyTime);
  void storeLanes(unsigned operand, const Indices &indices, llvm::ArrayRef<mlir::Value> values);
  /// The payload of one lane, with its arguments.
  Lanes payload(mlir::linalg::LinalgOp op, llvm::ArrayRef<mlir::Value> arguments,
                const Indices &indices, int64_t lane);
  /// The payload of several lanes. Loads of contiguous elements are one vector load, also in
  /// branches that all lanes take together.
  llvm::SmallVector<Lanes> payloads(mlir::linalg::LinalgOp op, llvm::ArrayRef<Lanes> arguments,
                                    const Indices &indices, llvm::ArrayRef<int64_t> activeLanes);
  Lanes applyEpilogue(llvm::ArrayRef<mlir::Value> results, const Indices &indices,
                      llvm::ArrayRef<int64_t> activeLanes);
  /// Clones the constants that `from` and nested ops use, because ops after nested blocks may use
  /// the same ones.
  void cloneConstants(mlir::Operation &from, mlir::IRMapping &mapping);
  /// Whether a value of the payload does not depend on the loop of the lanes.
  bool isSameForLanes(mlir::Value value);
  /// Whether a branch depends on such a value, or on where an index is from a bound that is not
  /// between lanes.
  bool isSameForLanes(mlir::scf::IfOp branch);
  /// The alignment of a load that `lanes` lanes make of contiguous elements; none if they do not.
  llvm::MaybeAlign lanesAlignment(mlir::memref::LoadOp load, int64_t lanes);
  /// Emits a load whose lanes are contiguous and aligned; returns whether they are.
  bool loadLanes(mlir::memref::LoadOp load, llvm::MutableArrayRef<LaneMapping> lanes);
  void cloneLanes(mlir::Operation &from, llvm::MutableArrayRef<LaneMapping> lanes);
  const RunLoad *runOf(mlir::memref::LoadOp load) const; ///< null if it loads no run
  /// Begins the iterations of the unrolled loops. `indices` has any of them.
  void startRuns(const Indices &indices);
  /// The element of a lane in the iterations `turn`, which may have been loaded before.
  mlir::Value loadOfRun(const RunLoad &run, const mlir::IRMapping &mapping, int64_t lane);
  /// The quotient of an index and a constant, if the index is a multiple of the divisor, or of a
  /// divisor of it, plus a constant: neighboring iterations of a thread have equal quotients, so
  /// they share the loads there. Null otherwise. Indices do not overflow.
  mlir::Value quotient(mlir::Value dividend, int64_t divisor);
  void clone(mlir::Operation &from, mlir::IRMapping &mapping, llvm::ArrayRef<mlir::Value> dims,
             int64_t lane);
  llvm::MaybeAlign gatherAlignment(mlir::memref::LoadOp load, const Buffer &buffer);
  llvm::SmallVector<mlir::Value> dimIndices(const Indices &indices, int64_t lane);
  /// The value of the thread of the warp whose number differs from this one's in the bit
  /// `distance`, or of the one with number `lane`.
  mlir::Value shuffleXor(mlir::Value value, int64_t distance);
  mlir::Value shuffleFrom(mlir::Value value, mlir::Value lane);
  mlir::Value shuffle(mlir::Value value, mlir::Value offset, mlir::gpu::ShuffleMode mode);

  llvm::SmallVector<int64_t> allLanes() const {
    return llvm::to_vector(llvm::seq<int64_t>(0, plan.lanes));
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) { return y == 0 ? x : add(x, constant(y)); }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : b.createOrFold<mlir::arith::MulIOp>(loc, x, constant(y));
  }
  mlir::Value cloneConstant(mlir::Value value) {
    return b.clone(*value.getDefiningOp())->getResult(0);
  }
  mlir::Value argumentOf(const Buffer &buffer) { return arguments[buffer.root]; }

  const KernelMapping &plan;
  mlir::linalg::LinalgOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SetVector<mlir::Value> roots;
  llvm::DenseMap<mlir::Value, Buffer> captured;       ///< memrefs that the payload loads from
  llvm::DenseMap<mlir::Value, mlir::Value> arguments; ///< root -> argument of the kernel
  llvm::SmallVector<int64_t> turn; ///< iterations of the unrolled loops whose code is emitted
  llvm::SmallVector<mlir::Value> runStarts; ///< of each run the innermost index at offset 0
  std::map<std::vector<int64_t>, mlir::Value> runElements; ///< those loaded so far
  /// Shared memory of the block: a square for each transposed input, or for each result the partial
  /// results of the warps, in a column reduction a row of them for each group of threads with
  /// different columns, or the partial results of the warps for each reduction of a region of rows.
  llvm::SmallVector<mlir::BlockArgument> staging;
};

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_EMITTER_H
