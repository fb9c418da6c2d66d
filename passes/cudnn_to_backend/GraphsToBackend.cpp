// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts each `cudnn.graph` to the function that builds it and an entry of the manifest.

#include "passes/Passes.h"
#include "passes/common/Buffers.h"
#include "passes/common/Locations.h"
#include "passes/common/Manifest.h"
#include "passes/cudnn_to_backend/GraphWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace convoy {
#define GEN_PASS_DEF_CONVERTCUDNNGRAPHSTOBACKENDPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

struct ConvertCudnnGraphsToBackendPass
    : public convoy::impl::ConvertCudnnGraphsToBackendPassBase<ConvertCudnnGraphsToBackendPass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Name of an operation in the manifest: `convolution`, `matmul`, `relu`, `reduce_add`, `maxpool`.
std::string operationName(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([](cudnn::ConvolutionOp op) {
        return op.getMode() == cudnn::ConvolutionMode::Fprop
                   ? "convolution"
                   : "convolution_" + cudnn::stringifyConvolutionMode(op.getMode()).str();
      })
      .Case([](cudnn::PointwiseOp op) {
        StringRef name = cudnn::stringifyPointwiseMode(op.getMode());
        name.consume_back("_fwd");
        return name.str();
      })
      .Case([](cudnn::RecurrentOp op) { return cudnn::stringifyRecurrentMode(op.getMode()).str(); })
      .Case([](cudnn::ReductionOp op) {
        return "reduce_" + cudnn::stringifyReductionMode(op.getMode()).str();
      })
      .Case([](cudnn::ResampleOp op) { return cudnn::stringifyResampleMode(op.getMode()).str(); })
      .Case([](cudnn::ResampleBackwardOp op) {
        return cudnn::stringifyResampleMode(op.getMode()).str() + "_backward";
      })
      .Default([](Operation *op) { return op->getName().stripDialect().str(); });
}

/// PyTorch's name of a type, including types that inputs and outputs of programs cannot have.
StringRef dtypeName(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float8E4M3FNType) { return "float8_e4m3fn"; })
      .Case([](Float8E5M2Type) { return "float8_e5m2"; })
      .Case([](Float8E8M0FNUType) { return "float8_e8m0fnu"; })
      .Case([](Float4E2M1FNType) { return "float4_e2m1fn_x2"; })
      .Case([](ComplexType complex) {
        return complex.getElementType().isF64() ? "complex128" : "complex64";
      })
      .Case([](IntegerType integer) -> StringRef {
        if (integer.getWidth() == 4)
          return integer.isUnsigned() ? "uint4" : "int4";
        return integer.isUnsignedInteger(32) ? "uint32" : torchDtype(integer);
      })
      .Default([](Type type) { return torchDtype(type); });
}

/// The bytes of a number in memory, in hexadecimal.
std::string hexBytes(TypedAttr number) {
  auto real = dyn_cast<FloatAttr>(number);
  APInt bits = real ? real.getValue().bitcastToAPInt() : cast<IntegerAttr>(number).getValue();
  std::string bytes;
  for (unsigned bit = 0; bit < bits.getBitWidth(); bit += 8)
    bytes.push_back(static_cast<char>(bits.extractBitsAsZExtValue(8, bit)));
  return llvm::toHex(bytes, /*LowerCase=*/true);
}

/// FLOPs of a convolution or matrix product, two per multiply-add; 0 for other operations.
int64_t productFlops(Operation &op) {
  auto elements = [](ArrayRef<int64_t> shape) { return ShapedType::getNumElements(shape); };
  return llvm::TypeSwitch<Operation *, int64_t>(&op)
      .Case([&](cudnn::ConvolutionOp op) {
        ArrayRef<int64_t> filter = op.getFilterType().getShape();
        return 2 * elements(op.getOutputType().getShape()) *
               elements(filter.drop_front(op.hasGroupDim() ? 2 : 1));
      })
      .Case([&](cudnn::MatmulOp op) {
        return 2 * elements(op.getY().getType().getShape()) * op.getA().getType().getShape().back();
      })
      .Case([&](cudnn::RecurrentOp op) {
        return 2 * elements(op.getGiven().getType().getShape()) *
               op.getWeights().getType().getShape().front();
      })
      .Default([](Operation *) { return 0; });
}

/// The FLOPs of a graph's products, and the operand type of the first one; null without products.
DictionaryAttr describeProducts(OpBuilder &builder, Block &block) {
  int64_t flops = 0;
  StringRef dtype;
  for (Operation &op : block.without_terminator()) {
    int64_t found = productFlops(op);
    if (found != 0 && flops == 0)
      dtype = dtypeName(cast<cudnn::TensorDescType>(op.getOperand(0).getType()).getElementType());
    flops += found;
  }
  if (flops == 0)
    return nullptr;
  return builder.getDictionaryAttr({builder.getNamedAttr("flops", builder.getI64IntegerAttr(flops)),
                                    builder.getNamedAttr("dtype", builder.getStringAttr(dtype))});
}

/// Size in bytes of a packed tensor of the type.
int64_t bytesOf(cudnn::TensorDescType type) {
  Type element = type.getElementType();
  // Two numbers of 4 bits share a byte.
  bool isHalf = element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 4;
  return llvm::product_of(type.getLogicalShape()) * elementBytes(element) / (isHalf ? 2 : 1);
}

/// An alternative's entry in alternatives.json; `places` has the indices of the graphs.
DictionaryAttr describeAlternative(OpBuilder &builder, cudnn::AlternativeOp alternative,
                                   const llvm::StringMap<int64_t> &places) {
  Block &body = alternative.getBody().front();
  llvm::DenseMap<Value, int64_t> numbers;
  for (Value argument : body.getArguments())
    numbers.try_emplace(argument, numbers.size());
  for (Value result : body.getTerminator()->getOperands())
    numbers.try_emplace(result, numbers.size());
  SmallVector<Attribute> temporaries, steps;
  for (Operation &op : body.without_terminator()) {
    for (Value result : op.getResults())
      if (numbers.try_emplace(result, numbers.size()).second)
        temporaries.push_back(builder.getDictionaryAttr({
            builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytesOf(
                                              cast<cudnn::TensorDescType>(result.getType())))),
            builder.getNamedAttr("zeros", builder.getBoolAttr(isa<cudnn::ZerosOp>(op))),
        }));
    auto step = dyn_cast<cudnn::StepOp>(op);
    if (!step)
      continue;
    SmallVector<int64_t> tensors;
    for (Value value : step.getInputs())
      tensors.push_back(numbers.lookup(value));
    for (Value value : step.getOutputs())
      tensors.push_back(numbers.lookup(value));
    steps.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("graph", builder.getI64IntegerAttr(places.lookup(step.getGraph()))),
        builder.getNamedAttr("tensors", builder.getDenseI64ArrayAttr(tensors)),
    }));
  }
  return builder.getDictionaryAttr({
      builder.getNamedAttr("graph",
                           builder.getI64IntegerAttr(places.lookup(alternative.getGraph()))),
      builder.getNamedAttr("name", alternative.getNameAttr()),
      builder.getNamedAttr("temporaries", builder.getArrayAttr(temporaries)),
      builder.getNamedAttr("steps", builder.getArrayAttr(steps)),
  });
}

/// The graph's entry in the manifest. Without a `symbol` it has no build function, only kernels.
/// `alternatives` are the names of its alternatives.
DictionaryAttr describeGraph(OpBuilder &builder, cudnn::GraphOp graph, StringRef symbol,
                             ArrayRef<Attribute> alternatives) {
  SmallVector<Attribute> ops, tensors;
  Block &block = graph.getBody().front();
  for (Operation &op : block.without_terminator())
    if (!isa<cudnn::ConstantOp>(op))
      ops.push_back(builder.getStringAttr(operationName(op)));
  for (const RealTensor &tensor : realTensors(graph)) {
    auto type = cast<cudnn::TensorDescType>(tensor.value.getType());
    StringRef dtype = dtypeName(type.getElementType());
    assert(!dtype.empty() && "PyTorch has every element type of cuDNN");
    CudnnShape shape = cudnnShape(tensor.value);
    tensors.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("uid", builder.getI64IntegerAttr(tensor.uid)),
        builder.getNamedAttr(
            "role", builder.getStringAttr(isa<BlockArgument>(tensor.value) ? "input" : "output")),
        builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape.dims)),
        builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(shape.strides)),
        builder.getNamedAttr("dtype", builder.getStringAttr(dtype)),
    }));
  }
  SmallVector<NamedAttribute> entry{
      builder.getNamedAttr("name", graph.getSymNameAttr()),
      builder.getNamedAttr("ops", builder.getArrayAttr(ops)),
      builder.getNamedAttr("location", builder.getStringAttr(placeText(graph.getLoc()))),
      builder.getNamedAttr("tensors", builder.getArrayAttr(tensors)),
  };
  if (DictionaryAttr products = describeProducts(builder, block))
    entry.push_back(builder.getNamedAttr("products", products));
  if (!symbol.empty())
    entry.push_back(builder.getNamedAttr("symbol", builder.getStringAttr(symbol)));
  SmallVector<Attribute> constants;
  for (Constant constant : graphConstants(graph))
    constants.push_back(builder.getDictionaryAttr({
        builder.getNamedAttr("uid", builder.getI64IntegerAttr(constant.uid)),
        builder.getNamedAttr("dtype",
                             builder.getStringAttr(dtypeName(constant.op.getValue().getType()))),
        builder.getNamedAttr("bytes", builder.getStringAttr(hexBytes(constant.op.getValue()))),
    }));
  if (!constants.empty())
    entry.push_back(builder.getNamedAttr("constants", builder.getArrayAttr(constants)));
  if (!alternatives.empty())
    entry.push_back(builder.getNamedAttr("alternatives", builder.getArrayAttr(alternatives)));
  if (Attribute kernels = graph->getAttr(cudnn::kKernelsAttr)) {
    entry.push_back(builder.getNamedAttr("kernels", kernels));
    entry.push_back(builder.getNamedAttr("preference", graph->getAttr(cudnn::kPreferenceAttr)));
  }
  if (Attribute matmul = graph->getAttr(cudnn::kMatmulAttr))
    entry.push_back(builder.getNamedAttr("matmul", matmul));
  return builder.getDictionaryAttr(entry);
}

/// Collects the alternatives of a module and erases them.
struct Alternatives {
  Alternatives(OpBuilder &builder, ModuleOp module) {
    llvm::StringMap<int64_t> places;
    for (auto graph : module.getOps<cudnn::GraphOp>())
      places.try_emplace(graph.getSymName(), places.size());
    for (auto alternative : llvm::make_early_inc_range(module.getOps<cudnn::AlternativeOp>())) {
      entries.push_back(describeAlternative(builder, alternative, places));
      names[alternative.getGraph()].push_back(alternative.getNameAttr());
      for (auto step : alternative.getBody().front().getOps<cudnn::StepOp>())
        steps.insert(step.getGraph());
      alternative.erase();
    }
    firstStep = places.size();
    // Graphs that are only steps follow the graphs that are called.
    int64_t called = 0;
    auto calls = dyn_cast_or_null<ArrayAttr>(getManifest(module, "calls"));
    for (Attribute each : calls ? calls.getValue() : ArrayRef<Attribute>()) {
      auto call = dyn_cast<DictionaryAttr>(each);
      if (auto number = call ? call.getAs<IntegerAttr>("graph") : IntegerAttr())
        called = std::max(called, number.getInt() + 1);
    }
    SmallVector<cudnn::GraphOp> graphs = llvm::to_vector(module.getOps<cudnn::GraphOp>());
    for (cudnn::GraphOp graph : llvm::reverse(graphs)) {
      if (firstStep == called || !steps.contains(graph.getSymName()) ||
          names.contains(graph.getSymName()))
        break;
      --firstStep;
    }
  }

  SmallVector<Attribute> entries;                ///< of alternatives.json
  llvm::StringMap<SmallVector<Attribute>> names; ///< by graph
  llvm::StringSet<> steps;                       ///< graphs that are steps
  int64_t firstStep; ///< the index of the first graph that is only a step
};

} // namespace

void ConvertCudnnGraphsToBackendPass::runOnOperation() {
  ModuleOp module = getOperation();
  OpBuilder builder(&getContext());
  SmallVector<Attribute> entries;
  Alternatives alternatives(builder, module);
  for (auto graph : llvm::make_early_inc_range(module.getOps<cudnn::GraphOp>())) {
    ArrayRef<Attribute> names = alternatives.names[graph.getSymName()];
    if (getPreference(graph) == cudnn::Preference::OnlyKernel) {
      entries.push_back(describeGraph(builder, graph, /*symbol=*/"", names));
      graph.erase();
      continue;
    }
    std::string symbol = (graph.getSymName() + "_build").str();
    if (Operation *other = module.lookupSymbol(symbol)) {
      InFlightDiagnostic diag = graph.emitOpError("expects the name '") << symbol << "' to be free";
      diag.attachNote(other->getLoc()) << "used here";
      return signalPassFailure();
    }
    DictionaryAttr entry = describeGraph(builder, graph, symbol, names);
    if (failed(writeGraphBuilder(builder, graph, minimumVersion)))
      return signalPassFailure();
    NamedAttrList described(entry);
    described.set(
        "fingerprint",
        builder.getStringAttr(module.lookupSymbol<cudnn_backend::FuncOp>(symbol).getFingerprint()));
    entries.push_back(described.getDictionary(&getContext()));
    graph.erase();
  }
  if (entries.empty())
    return;
  ArrayRef<Attribute> all = entries;
  setManifest(module, "graphs", builder.getArrayAttr(all.take_front(alternatives.firstStep)));
  if (!alternatives.entries.empty())
    setManifest(
        module, "alternatives",
        builder.getDictionaryAttr({
            builder.getNamedAttr("graphs",
                                 builder.getArrayAttr(all.drop_front(alternatives.firstStep))),
            builder.getNamedAttr("alternatives", builder.getArrayAttr(alternatives.entries)),
        }));
}
