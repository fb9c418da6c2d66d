// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers attention and its cache to descriptors.

#include "passes/cudnn_to_backend/GraphWriter.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;
using Name = AttributeName;

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::SdpaForwardOp op) {
  return writer.tensorOperation(DescriptorKind::operation_sdpa_fwd,
                                {{Name::operation_sdpa_fwd_qdesc, op.getQ()},
                                 {Name::operation_sdpa_fwd_kdesc, op.getK()},
                                 {Name::operation_sdpa_fwd_vdesc, op.getV()},
                                 {Name::operation_sdpa_fwd_odesc, op.getO()},
                                 {Name::operation_sdpa_fwd_statsdesc, op.getStats()},
                                 {Name::operation_sdpa_fwd_scaledesc, op.getScale()},
                                 {Name::operation_sdpa_fwd_block_mask_desc, op.getBlockMask()},
                                 {Name::operation_sdpa_fwd_page_table_kdesc, op.getPageTableK()},
                                 {Name::operation_sdpa_fwd_page_table_vdesc, op.getPageTableV()},
                                 {Name::operation_sdpa_fwd_seq_len_qdesc, op.getSeqLenQ()},
                                 {Name::operation_sdpa_fwd_seq_len_kvdesc, op.getSeqLenKv()}});
}

FailureOr<Value> convoy::lower(GraphWriter &writer, cudnn::PagedCacheLoadOp op) {
  return writer.tensorOperation(
      DescriptorKind::operation_paged_cache_load,
      {{Name::operation_paged_cache_load_container_desc, op.getContainer()},
       {Name::operation_paged_cache_load_ydesc, op.getY()},
       {Name::operation_paged_cache_load_sequence_desc, op.getSequenceLengths()},
       {Name::operation_paged_cache_load_page_table_desc, op.getPageTable()}});
}
