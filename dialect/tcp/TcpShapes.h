// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shapes of tensors and shape functions on plain values, shared by the verifiers and the passes
// that build ops.

#ifndef CONVOY_DIALECT_TCP_TCPSHAPES_H
#define CONVOY_DIALECT_TCP_TCPSHAPES_H

#include "dialect/common/Shapes.h"
#include "dialect/tcp/TcpDims.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"

namespace convoy::tcp {

/// The shape of a ranked tensor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// Number of positions of a dilated `window` along one padded dim of `size`, at steps of `stride`;
/// 0 if these are numbers and the window does not fit.
Dim windowPlaces(Dim size, Dim window, int64_t stride, int64_t padLow, int64_t padHigh,
                 int64_t dilation);

/// Index of the channel dim and of the first spatial dim in a tensor of `spatialRank + 2` dims.
int64_t channelDim(int64_t spatialRank, bool channelsLast);
int64_t firstSpatialDim(bool channelsLast);

/// Result shape of a convolution whose operands meet constraints c1 to c3.
Dims convShape(llvm::ArrayRef<Dim> input, llvm::ArrayRef<Dim> weights,
               llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> pad,
               llvm::ArrayRef<int64_t> dilation, bool channelsLast);

/// Result shape of a pooling; `pad` is interleaved low, high.
Dims poolShape(llvm::ArrayRef<Dim> input, llvm::ArrayRef<int64_t> kernel,
               llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> pad,
               llvm::ArrayRef<int64_t> dilation, bool channelsLast);

/// Whether a dim is a multiple of `divisor`, as far as it is a number.
bool isMultipleOf(Dim dim, int64_t divisor);

/// One dim of several operands, of which those repeat that have size 1 in their types. Failure if
/// the others differ.
llvm::FailureOr<Dim> broadcastDim(mlir::ValueRange operands, llvm::ArrayRef<Dims> shapes,
                                  unsigned dim, const Symbols &symbols);

/// The number of elements of a shape.
Dim elementsOf(llvm::ArrayRef<Dim> dims);

/// `pad` with `ceilPad` added at the high side of each spatial dim.
llvm::SmallVector<int64_t> withCeilPad(llvm::ArrayRef<int64_t> pad,
                                       llvm::ArrayRef<int64_t> ceilPad);

/// The type of `trips` values of `type`, stacked along a new dim 0.
mlir::RankedTensorType stackedType(mlir::Type type, int64_t trips);

} // namespace convoy::tcp

#endif // CONVOY_DIALECT_TCP_TCPSHAPES_H
