// The descriptor table's names for Python, which reads what builders say to cuDNN.

#include "passes/pipeline/Driver.h"

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
