// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Resolves memrefs to byte ranges. Generated kernels have bare pointers as arguments, so every view
// must have a static offset and strides from a pointer of the host. Reordering ops requires the
// overlap of two memrefs.

#ifndef CONVOY_PASSES_COMMON_BUFFERS_H
#define CONVOY_PASSES_COMMON_BUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace convoy {

/// Alignment of the buffers in an arena, in bytes: what cudaMalloc gives, and a multiple of a cache
/// line.
inline constexpr int64_t kArenaAlignment = 256;

/// A memref as a pointer and a static strided layout, in elements.
struct Buffer {
  mlir::Value root; ///< the memref that the pointer points to; its views need no code on the host
  mlir::MemRefType type;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// Half-open byte range relative to `base`. Different bases never overlap.
struct ByteRange {
  mlir::Value base;
  int64_t begin = 0;
  int64_t end = 0;
  /// If not 0, only the first `span` bytes of each `period` bytes from `begin` on: a slice of rows,
  /// which does not overlap the slices beside it.
  int64_t period = 0, span = 0;

  bool overlaps(const ByteRange &other) const;
};

/// Traces subviews, reshapes and casts to their root. Fails when a shape, a stride or the offset is
/// dynamic.
mlir::FailureOr<Buffer> traceBuffer(mlir::Value memref);

/// Adds `scale * expr` to `steps`, one per dim of the expression, and `start`. Returns false if
/// `expr` is not linear.
bool addLinear(mlir::AffineExpr expr, int64_t scale, llvm::MutableArrayRef<int64_t> steps,
               int64_t &start);

/// The byte range from the first to the last element of `buffer`. An arena's views share their
/// base; function arguments do not. For an offset that depends on the step of a loop, the range of
/// all steps; for an unknown offset into an arena, the whole arena.
ByteRange bytesOf(const Buffer &buffer);

/// The memrefs outside of `op` that it and the ops in its regions use.
llvm::SmallVector<mlir::Value> memrefsOf(mlir::Operation *op);

/// Makes all uses of `alloc` use `buffer`, which is as large, in the layout of `alloc`.
void replaceAllocation(mlir::memref::AllocOp alloc, mlir::Value buffer);

/// `memref` without reshapes that only add or drop dims of size 1.
mlir::Value withoutUnitReshapes(mlir::Value memref);

/// Whether the pointer of `buffer`'s root is a multiple of `alignment` bytes: arguments and arenas
/// are aligned to 64 (convoy_abi.h).
bool isRootAligned(const Buffer &buffer, int64_t alignment);

/// Whether `value` is a constant, which can be cloned into kernels.
bool isConstant(mlir::Value value);

/// Size in memory of an element: whole bytes, one for an i1.
int64_t elementBytes(mlir::Type type);

/// Size in bytes of a contiguous buffer of static shape.
int64_t packedBytes(mlir::ShapedType type);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_BUFFERS_H
