// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The class that emits a region of rows: what its ops compute (EmitRows.cpp), running totals
// (EmitTotals.cpp), and the groups of elements of a thread, with their loads and stores
// (EmitRowsMemory.cpp).

#ifndef CONVOY_PASSES_GPU_CODEGEN_ROWEMITTER_H
#define CONVOY_PASSES_GPU_CODEGEN_ROWEMITTER_H

#include "passes/gpu_codegen/Emitter.h"

namespace convoy::gpu_codegen {

class RowEmitter {
public:
  explicit RowEmitter(Emitter &emitter)
      : e(emitter), plan(e.plan), rows(*plan.rows), region(rows.region), b(e.b), loc(e.loc) {}

  void emit(mlir::Value thread);

private:
  void emitRow();
  using Lanes = Emitter::Lanes;

  /// A group of elements.
  struct Group {
    int64_t width;
    llvm::SmallVector<mlir::Value> indices; ///< of the first one, one per loop over elements
    mlir::Value isInside;                   ///< null if it always is
    llvm::DenseMap<unsigned, Lanes> loaded, computed; ///< by operand, and by op
  };

  llvm::SmallVector<Group, 0> groupsFrom(mlir::Value first, int64_t most, int64_t count);
  void findWholeGroups();
  Group outsideOfGroups();
  mlir::Value clamp(mlir::Value &index, mlir::Value end);
  void forGroups(llvm::SmallVectorImpl<mlir::Value> &carried,
                 llvm::function_ref<void(Group &, llvm::SmallVectorImpl<mlir::Value> &)> body);
  void loopOverGroups(llvm::SmallVectorImpl<mlir::Value> &carried,
                      llvm::function_ref<void(Group &, llvm::SmallVectorImpl<mlir::Value> &)> body);
  mlir::Value address(unsigned operand, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value loadOne(unsigned operand, llvm::ArrayRef<mlir::Value> indices);
  const Lanes &load(unsigned operand, Group &group);
  void forgetComputed(Group &group);
  Lanes arguments(unsigned number, Group *group, int64_t lane);
  const Lanes &compute(unsigned number, Group &group);
  void store(unsigned number, Group &group);
  void storeRow(unsigned number);
  mlir::Value reduce(unsigned number);
  mlir::Value combineThreads(const RowOp &op, mlir::Value value);
  mlir::Value combineColumns(const RowOp &op, mlir::Value value);
  mlir::Value addTotals(unsigned number, Group &group, mlir::Value before);
  void addThreadsBefore(const RowOp &op, Lanes &totals);
  mlir::Value addWarpsBefore(const RowOp &op, Lanes &totals);
  void guarded(llvm::ArrayRef<mlir::Value> conditions, llvm::function_ref<void()> body);
  bool variesInRow(unsigned operand) const {
    return llvm::any_of(plan.reduction,
                        [&](const KernelLoop &loop) { return loop.steps[operand] != 0; });
  }

  Emitter &e;
  const KernelMapping &plan;
  const RowMapping &rows;
  const RowRegion &region;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Emitter::Indices row;      ///< without indices of elements
  mlir::Value sharer, isRow; ///< number of the thread in its row; null if the row always exists
  mlir::Value lane;          ///< number of the thread in its warp
  mlir::Value column;        ///< number of the row in its block, if there are several
  mlir::Value wholeGroups;   ///< number of groups of the row
  mlir::Value firstWhole;    ///< index where they begin; null if it is always zero
  llvm::SmallVector<Group, 0> resident; ///< the thread's groups that stay in registers
  llvm::SmallVector<mlir::Value> ofRow; ///< by op: its value for the row, unless the op is full
  llvm::DenseMap<unsigned, mlir::Value> rowLoads; ///< operands with one element per row
  llvm::SmallVector<unsigned> pending; ///< full ops whose results the next loop over groups stores
  unsigned numShared = 0;              ///< reductions that have used shared memory
};

} // namespace convoy::gpu_codegen

#endif // CONVOY_PASSES_GPU_CODEGEN_ROWEMITTER_H
