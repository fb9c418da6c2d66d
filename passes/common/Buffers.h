// The bytes of a memref. Generated kernels take bare pointers, so every view must be a static
// offset and strides from a pointer that the host has; an op moves only past ops that leave its
// bytes alone.

#ifndef CONVOY_PASSES_COMMON_BUFFERS_H
#define CONVOY_PASSES_COMMON_BUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace convoy {

/// A memref as a pointer and a static strided layout, in elements.
struct Buffer {
  mlir::Value
      root; ///< the memref whose first byte is the pointer; views of it need no code on the host
  mlir::MemRefType type;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// Half-open range of bytes from a base that no other base overlaps.
struct ByteRange {
  mlir::Value base;
  int64_t begin = 0;
  int64_t end = 0;

  bool overlaps(const ByteRange &other) const {
    return base == other.base && begin < other.end && other.begin < end;
  }
};

/// Follows subviews, reshapes and casts to their root. Fails when a shape, a stride or the offset
/// is not static.
mlir::FailureOr<Buffer> traceBuffer(mlir::Value memref);

/// The bytes between the first and the last element of `buffer`. An arena's views share their base;
/// two function arguments do not. Unknown offsets into an arena give the whole arena.
ByteRange bytesOf(const Buffer &buffer);

/// The memrefs outside of `op` that it and the ops in its regions use.
llvm::SmallVector<mlir::Value> memrefsOf(mlir::Operation *op);

/// `memref` without reshapes that only add or drop dims of size 1.
mlir::Value withoutUnitReshapes(mlir::Value memref);

/// Whether the pointer of `buffer`'s root is a multiple of `alignment` bytes: arguments and arenas
/// are aligned to 64 (convoy_abi.h).
bool isRootAligned(const Buffer &buffer, int64_t alignment);

/// Whether `value` is a constant, which every kernel can have a copy of.
bool isConstant(mlir::Value value);

/// Bytes of one element in memory: an i1 takes one.
int64_t elementBytes(mlir::Type type);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_BUFFERS_H
