// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Estimates what it costs to store a value with permuted dims.

#ifndef CONVOY_PASSES_NORMALIZE_ORDERCOST_H
#define CONVOY_PASSES_NORMALIZE_ORDERCOST_H

#include "passes/normalize/Layouts.h"

namespace convoy {

/// The size of a tensor in memory.
int64_t bytesOf(mlir::Value value);

/// Whether a product whose left factor is stored with `perm` can compute its result in that order:
/// all of its rows are multiplied by one weight.
bool canKeepOrder(tcp::MatmulOp op, llvm::ArrayRef<int64_t> perm, const WeightValues &weights);

/// Whether a pooling of a value in the original order keeps that order, because no more is
/// transposed than with channels as the last dim, and no convolution, which needs these as the last
/// dim, is computed from its input. Generated kernels on a GPU read either order as fast.
bool staysChannelsFirst(mlir::Operation *pool, const WeightValues &weights);

/// Adds elementwise ops before `conv` to `hoisted`. A transpose of the convolution's input can move
/// before them, because only convolutions use their results, and moves no more bytes there.
void findHoisted(tcp::ConvOpInterface conv, const WeightValues &weights,
                 llvm::DenseSet<mlir::Operation *> &hoisted);

/// The bytes of the tensors that are transposed if `value` is stored with `perm`, and each value
/// that is computed from it alone keeps its order up to an op that requires the original one.
/// Attention reads query, key and value in any order that keeps rows contiguous. Convolutions and
/// pools require channels-last images.
int64_t bytesToTranspose(mlir::Value value, llvm::ArrayRef<int64_t> perm,
                         const WeightValues &weights);

} // namespace convoy

#endif // CONVOY_PASSES_NORMALIZE_ORDERCOST_H
