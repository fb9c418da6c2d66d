// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Generics that read a part of a tensor.

#ifndef CONVOY_PASSES_TCP_TO_LINALG_STRIDEDREADS_H
#define CONVOY_PASSES_TCP_TO_LINALG_STRIDEDREADS_H

#include "dialect/tcp/TcpOps.h"

namespace convoy {

/// A generic that reads `input` at `start + index * stride`.
mlir::Value stridedRead(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                        llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                        llvm::ArrayRef<int64_t> strides);

/// Reads one of the terms of a sum of products: a slice of `input`, reshaped to `shape`. Its map
/// has constants for the dims of one element, so that all terms can be read in one kernel, row by
/// row. Null if the slice is no term, or if the reshape changes other dims than those of size 1.
mlir::Value termRead(mlir::OpBuilder &builder, tcp::SliceOp slice, mlir::Value input,
                     llvm::ArrayRef<int64_t> shape);

} // namespace convoy

#endif // CONVOY_PASSES_TCP_TO_LINALG_STRIDEDREADS_H
