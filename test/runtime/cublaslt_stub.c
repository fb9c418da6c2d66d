// cuDNN loads cuBLASLt before it plans, and ends the process when it, or one of these names, is not
// there. Planning only asks for the version and makes a handle and descriptors; nothing here can
// compute.
#define NAME(name)                                                                                 \
  int name(void) { return 0; }

unsigned long cublasLtGetVersion(void) { return 130000; }
NAME(cublasLtCreate)
NAME(cublasLtDestroy)
NAME(cublasLtGetProperty)
NAME(cublasLtMatmul)
NAME(cublasLtMatmulAlgoGetHeuristic)
NAME(cublasLtMatmulDescCreate)
NAME(cublasLtMatmulDescDestroy)
NAME(cublasLtMatmulDescGetAttribute)
NAME(cublasLtMatmulDescInit_internal)
NAME(cublasLtMatmulDescSetAttribute)
NAME(cublasLtMatmulPreferenceCreate)
NAME(cublasLtMatmulPreferenceDestroy)
NAME(cublasLtMatmulPreferenceInit_internal)
NAME(cublasLtMatmulPreferenceSetAttribute)
NAME(cublasLtMatrixLayoutCreate)
NAME(cublasLtMatrixLayoutDestroy)
NAME(cublasLtMatrixLayoutGetAttribute)
NAME(cublasLtMatrixLayoutInit_internal)
NAME(cublasLtMatrixLayoutSetAttribute)
NAME(cublasLtMatrixTransform)
NAME(cublasLtMatrixTransformDescCreate)
NAME(cublasLtMatrixTransformDescDestroy)
NAME(cublasLtMatrixTransformDescGetAttribute)
NAME(cublasLtMatrixTransformDescInit_internal)
NAME(cublasLtMatrixTransformDescSetAttribute)
