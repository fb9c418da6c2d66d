// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All ops of the cudnn dialect, by family.

#ifndef CONVOY_CUDNN_OPS
#define CONVOY_CUDNN_OPS

include "dialect/cudnn/CudnnAlternativeOps.td"
include "dialect/cudnn/CudnnAttentionOps.td"
include "dialect/cudnn/CudnnBlockScaleOps.td"
include "dialect/cudnn/CudnnConvOps.td"
include "dialect/cudnn/CudnnDataOps.td"
include "dialect/cudnn/CudnnGraphOps.td"
include "dialect/cudnn/CudnnMatmulOps.td"
include "dialect/cudnn/CudnnNormOps.td"
include "dialect/cudnn/CudnnPointwiseOps.td"
include "dialect/cudnn/CudnnRecurrentOps.td"
include "dialect/cudnn/CudnnReductionOps.td"
include "dialect/cudnn/CudnnResampleOps.td"
include "dialect/cudnn/CudnnStructuredOps.td"

#endif // CONVOY_CUDNN_OPS
