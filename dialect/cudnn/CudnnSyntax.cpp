// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/cudnn/CudnnSyntax.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace convoy;

ParseResult cudnn::parseSpatialDims(OpAsmParser &parser, IntegerAttr &count,
                                    DenseI64ArrayAttr &stride) {
  SMLoc place = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("spatial_dim_count")) &&
      (parser.parseEqual() || parser.parseAttribute(count, parser.getBuilder().getI64Type())))
    return failure();
  if (parser.parseKeyword("spatial_stride") || parser.parseEqual())
    return failure();
  stride = dyn_cast_if_present<DenseI64ArrayAttr>(
      DenseI64ArrayAttr::parse(parser, parser.getBuilder().getNoneType()));
  if (!stride)
    return failure();
  // The rank is known only after the types; the verifier compares the count with it.
  int64_t spatial = stride.size();
  if (count && (count.getInt() == spatial + 2 || count.getInt() == spatial + 3))
    emitRemark(parser.getEncodedSourceLoc(place), "'spatial_dim_count' ")
        << count.getInt() << " is the rank; cuDNN gets " << spatial
        << ", the number of spatial dims (CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS)";
  return success();
}

void cudnn::printSpatialDims(OpAsmPrinter &printer, Operation *, IntegerAttr count,
                             DenseI64ArrayAttr stride) {
  if (count)
    printer << " spatial_dim_count = " << count.getInt();
  printer << " spatial_stride = ";
  stride.print(printer);
}
