// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The descriptor table for Python: names, with which it decodes the calls of builders, and the
// oldest supported cuDNN version.

#include "dialect/cudnn_backend/DescriptorTable.h"
#include "passes/pipeline/Driver.h"

int convoy::minimumCudnn() { return cudnn_backend::kMinimumCudnn; }

std::vector<convoy::BackendName> convoy::backendNames() {
  return {
#define BACKEND_DESCRIPTOR(kind, number, since) {"descriptor", #kind, number},
#define BACKEND_ATTRIBUTE(kind, name, number, type, alternative, count, need, initial, element,    \
                          since)                                                                   \
  {"attribute", #name, number},
#define BACKEND_TYPE(name, cname, number, ctype, bytes) {"type", #name, number},
#define BACKEND_ENUM(type, name, cname, number, since) {#type, #name, number},
#include "dialect/cudnn_backend/Descriptors.def"
  };
}
