// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Custom directives of assembly formats of the cudnn dialect.

#ifndef CONVOY_DIALECT_CUDNN_CUDNNSYNTAX_H
#define CONVOY_DIALECT_CUDNN_CUDNNSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace convoy::cudnn {

/// `spatial_dim_count = 2 spatial_stride = [1, 1]`; the first part is optional. Emits a remark for
/// a count that includes dims that are not spatial.
mlir::ParseResult parseSpatialDims(mlir::OpAsmParser &parser, mlir::IntegerAttr &count,
                                   mlir::DenseI64ArrayAttr &stride);
void printSpatialDims(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr count,
                      mlir::DenseI64ArrayAttr stride);

} // namespace convoy::cudnn

#endif // CONVOY_DIALECT_CUDNN_CUDNNSYNTAX_H
