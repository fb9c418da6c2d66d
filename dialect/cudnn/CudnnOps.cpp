// What the classes of the cudnn ops need besides verifiers and folds: text of graphs, builders, effects.

#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace convoy::cudnn;

#define GET_OP_CLASSES
#include "dialect/cudnn/CudnnOps.cpp.inc"

int64_t convoy::cudnn::pointwiseArity(PointwiseMode mode) {
  switch (mode) {
  case PointwiseMode::Add:
  case PointwiseMode::Mul:
  case PointwiseMode::Min:
  case PointwiseMode::Max:
  case PointwiseMode::AddSquare:
  case PointwiseMode::Div:
  case PointwiseMode::Mod:
  case PointwiseMode::Pow:
  case PointwiseMode::Sub:
  case PointwiseMode::Atan2:
  case PointwiseMode::CmpEq:
  case PointwiseMode::CmpNeq:
  case PointwiseMode::CmpGt:
  case PointwiseMode::CmpGe:
  case PointwiseMode::CmpLt:
  case PointwiseMode::CmpLe:
  case PointwiseMode::LogicalAnd:
  case PointwiseMode::LogicalOr:
    return 2;
  case PointwiseMode::BinarySelect:
    return 3;
  default:
    return isBackward(mode) ? 2 : 1;
  }
}

bool convoy::cudnn::isBackward(PointwiseMode mode) { return mode >= PointwiseMode::ReluBwd && mode <= PointwiseMode::GeluApproxTanhBwd; }

//===-- operations -------------------------------------------------------------------------------------------------------===//

void PointwiseOp::build(OpBuilder &builder, OperationState &state, Type type, PointwiseMode mode, ValueRange inputs, Type computeType) {
  state.addOperands(inputs);
  state.addTypes(type);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.mode = PointwiseModeAttr::get(builder.getContext(), mode);
  properties.compute_type = TypeAttr::get(computeType);
  properties.alpha1 = properties.alpha2 = builder.getF32FloatAttr(1.0f);
}

TensorDescType ConvolutionOp::getInputType() { return getMode() == ConvolutionMode::Dgrad ? getY().getType() : getX().getType(); }

TensorDescType ConvolutionOp::getFilterType() { return getMode() == ConvolutionMode::Wgrad ? getY().getType() : getW().getType(); }

TensorDescType ConvolutionOp::getOutputType() {
  switch (getMode()) {
  case ConvolutionMode::Fprop:
    return getY().getType();
  case ConvolutionMode::Dgrad:
    return getX().getType();
  case ConvolutionMode::Wgrad:
    return getW().getType();
  }
  llvm_unreachable("every mode is above");
}

//===-- graph ------------------------------------------------------------------------------------------------------------===//

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(type);
  Block &block = state.addRegion()->emplaceBlock();
  for (Type argument : type.getInputs())
    block.addArgument(argument, state.location);
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

void ExecuteOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
}
