#include "passes/pipeline/Registration.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace convoy {

void registerConvoyDialects(DialectRegistry &registry) {
  registry.insert<tcp::TcpDialect, cudnn::CudnnDialect, cudnn_backend::CudnnBackendDialect>();
  cudnn::registerBufferizableOpInterfaceModels(registry);
}

void registerCompilerDialects(DialectRegistry &registry) {
  registerConvoyDialects(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect>();
}

} // namespace convoy
