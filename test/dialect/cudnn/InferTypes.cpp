// Prints the inferred result types of the ops of a file, which the assembly format cannot omit.
// With `-` it builds a graph without result types.

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace convoy::cudnn;

/// Prints the inferred types of `op`, one per line after the op's name, and whether they are
/// compatible with its actual types. The op need not be valid.
static void printInferred(Operation *op) {
  auto interface = dyn_cast<InferTypeOpInterface>(op);
  if (!interface)
    return;
  Operation *copy = op->clone(Operation::CloneOptions::all()); // inference may write properties
  SmallVector<Type> types;
  LogicalResult inferred = interface.inferReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
      copy->getPropertiesStorage(), op->getRegions(), types);
  bool isOther = !interface.isCompatibleReturnTypes(types, op->getResultTypes());
  llvm::outs() << op->getName()
               << (failed(inferred) ? ": nothing inferred"
                   : isOther        ? ": other shapes"
                                    : "")
               << "\n";
  for (Type type : types)
    llvm::outs() << "  " << type << "\n";
  copy->destroy();
}

/// Builds a graph with one op per family, without result types.
static OwningOpRef<ModuleOp> build(MLIRContext *context) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  Type f16 = builder.getF16Type(), f32 = builder.getF32Type();
  auto image = TensorDescType::get({8, 64, 56, 56}, f16, /*channelsLast=*/true),
       filter = TensorDescType::get({32, 64, 3, 3}, f16, true),
       channels = TensorDescType::get({1, 32, 1, 1}, f32, true),
       scalar = TensorDescType::get({1, 1, 1, 1}, f32, false);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto graph =
      GraphOp::create(builder, loc, "inferred",
                      builder.getFunctionType({image, filter, channels, channels}, {channels}));
  builder.setInsertionPointToEnd(&graph.getBody().front());
  ValueRange arguments = graph.getBody().getArguments();

  auto conv = ConvolutionOp::create(builder, loc, arguments[0], arguments[1],
                                    ConvolutionMode::Fprop, ConvolutionKind::CrossCorrelation, f32,
                                    APFloat(1.0), APFloat(0.0), /*spatial_dim_count=*/{},
                                    ArrayRef<int64_t>{2, 2}, ArrayRef<int64_t>{1, 1},
                                    ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{1, 1});
  auto pool =
      ResampleOp::create(builder, loc, conv.getY(), ResampleMode::Maxpool, f32,
                         ArrayRef<int64_t>{3, 3}, ArrayRef<int64_t>{2, 2}, ArrayRef<int64_t>{1, 1},
                         ArrayRef<int64_t>{1, 1}, /*denominator=*/1, PaddingMode::NegInfPad,
                         NanPropagation::PropagateNan, /*alpha=*/FloatAttr(), /*beta=*/FloatAttr());
  auto epsilon = ConstantOp::create(builder, loc, scalar, builder.getF32FloatAttr(1e-5f));
  auto norm = NormForwardOp::create(
      builder, loc, NormMode::BatchNorm, NormForwardPhase::Training, pool.getY(), /*mean=*/{},
      /*inv_variance=*/{}, arguments[2], arguments[3], epsilon, /*exp_avg_factor=*/{},
      /*input_running_mean=*/{}, /*input_running_var=*/{}, /*peer_stats=*/ValueRange());
  auto both =
      ConcatOp::create(builder, loc, ValueRange{norm.getSavedMean(), norm.getSavedInvVariance()},
                       /*axis=*/0, /*inplace_index=*/{});
  auto product = MatmulOp::create(builder, loc, both.getY(), both.getY(), /*m_override=*/{}, {}, {},
                                  f32, /*padding_value=*/FloatAttr());
  (void)product;
  ReturnOp::create(builder, loc, norm.getSavedMean());
  graph.setFunctionType(builder.getFunctionType({image, filter, channels, channels},
                                                {norm.getSavedMean().getType()}));
  return module;
}

int main(int argc, char **argv) {
  MLIRContext context;
  context.loadDialect<CudnnDialect>();
  if (argc != 2) {
    llvm::errs() << "convoy-infer-types: expects one file, or - for a graph of its own\n";
    return 1;
  }
  if (StringRef(argv[1]) == "-") {
    OwningOpRef<ModuleOp> module = build(&context);
    module->print(llvm::outs());
    return failed(verify(*module));
  }
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::outs());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      argv[1], sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module)
    return 1;
  module->walk(printInferred);
  return 0;
}
