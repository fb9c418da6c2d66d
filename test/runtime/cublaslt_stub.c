// cuDNN loads cuBLASLt before it plans, and ends the process if the library or one of these symbols
// is missing. Planning only queries the version and creates a handle and descriptors; this stub
// computes nothing.
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
