// Everything of the cudnn dialect, by family.

#ifndef CONVOY_CUDNN_OPS
#define CONVOY_CUDNN_OPS

include "dialect/cudnn/CudnnComputeOps.td"
include "dialect/cudnn/CudnnGraphOps.td"

#endif // CONVOY_CUDNN_OPS
