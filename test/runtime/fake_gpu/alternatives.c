// conv.c with the graphs that are steps of its alternatives, each an operation on two tensors, and
// a graph that cuDNN refuses.
#include "../conv.c"

static int32_t binary(const ConvoyCudnn *cudnn, void *handle, void **graph, int32_t mode) {
  Builder builder = {.cudnn = cudnn}, *b = &builder;
  int64_t image[4] = {1, 64, 56, 56}, nhwc[4] = {64 * 56 * 56, 1, 64 * 56, 64};
  void *first = tensor(b, 1, DTYPE, image, nhwc, 0), *second = tensor(b, 2, DTYPE, image, nhwc, 0),
       *y = tensor(b, 3, DTYPE, image, nhwc, 0);
  void *operation = pointwise(b, mode, first, second, y);
  *graph = create(b, 15);
  if (handle)
    set(b, *graph, 800, 0, 1, &handle);
  set(b, *graph, 801, 15, 1, &operation);
  finalize(b, *graph, "finalize operation graph");
  for (int i = 0; i < b->count - !b->status; ++i)
    cudnn->destroy_descriptor(b->made[i]);
  return b->status;
}

#ifndef PRODUCT
#define PRODUCT 1 // CUDNN_POINTWISE_MUL
#endif
int32_t product_build(const ConvoyCudnn *cudnn, void *handle, void **graph) {
  return binary(cudnn, handle, graph, PRODUCT);
}
int32_t rest_build(const ConvoyCudnn *cudnn, void *handle, void **graph) {
  return binary(cudnn, handle, graph, 0);
}
int32_t refused_build(const ConvoyCudnn *cudnn, void *handle, void **graph) {
  (void)handle;
  *graph = 0;
  cudnn->report(3000, "finalize operation graph", "model.py:13");
  return 3000;
}
