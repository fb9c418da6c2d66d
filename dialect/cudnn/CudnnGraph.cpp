// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Graphs and their calls: assembly format, builders, effects, verifiers. Each check has the label
// of its constraint in the op's description.

#include "dialect/cudnn/CudnnChecks.h"
#include "dialect/cudnn/CudnnOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn;

std::optional<Preference> convoy::cudnn::getPreference(GraphOp graph) {
  auto preference = graph->getAttrOfType<StringAttr>(kPreferenceAttr);
  return preference ? symbolizePreference(preference.getValue()) : std::nullopt;
}

void convoy::cudnn::setPreference(GraphOp graph, Preference preference) {
  graph->setAttr(kPreferenceAttr,
                 StringAttr::get(graph.getContext(), stringifyPreference(preference)));
}

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(type);
  Block &block = state.addRegion()->emplaceBlock();
  for (Type argument : type.getInputs())
    block.addArgument(argument, state.location);
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
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

//===-- verifiers ----------------------------------------------------------===//

/// Checks the body of a graph in either form: operations, then a terminator whose operands are
/// distinct and computed in the body.
static LogicalResult verifyGraphBody(Operation *op, Block &body) {
  // graph_c2, build_and_exec_graph_c4
  if (llvm::hasSingleElement(body))
    return op->emitOpError("expects at least one operation in its body");
  for (Operation &inner : body.without_terminator())
    if (!inner.hasTrait<GraphOperation>())
      return inner.emitOpError("is not an operation of a graph");
  // graph_c3, build_and_exec_graph_c4
  llvm::SmallDenseSet<Value> seen;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (isa<BlockArgument>(value))
      return op->emitOpError("expects results that are computed in the graph, but result #")
             << i << " is an argument";
    if (value.getDefiningOp<ConstantOp>())
      return op->emitOpError("expects results that are computed in the graph, but result #")
             << i << " is a constant";
    if (!seen.insert(value).second)
      return op->emitOpError("expects distinct results, but result #") << i << " is a duplicate";
  }
  return success();
}

LogicalResult GraphOp::verifyType() {
  // graph_c1
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<TensorDescType>(type))
      return emitOpError("expects tensor descriptors as arguments, but argument #")
             << i << " is " << type;
  for (auto [i, type] : llvm::enumerate(getResultTypes()))
    if (!isa<TensorDescType>(type))
      return emitOpError("expects tensor descriptors as results, but result #")
             << i << " is " << type;
  if (getResultTypes().empty())
    return emitOpError("expects at least one result, but got none");
  return success();
}

BlockArgument GraphOp::getRaggedOffset(DictionaryAttr attributes) {
  auto offset = attributes ? attributes.getAs<IntegerAttr>(kRaggedOffsetAttr) : nullptr;
  return offset ? getBody().getArgument(offset.getInt()) : BlockArgument();
}

/// Checks the attributes of one argument or result; `argument` is its number, or -1 for a result.
static LogicalResult verifyTensorAttributes(GraphOp graph, const std::string &what,
                                            int64_t argument, DictionaryAttr attributes,
                                            llvm::SmallDenseSet<int64_t> &uids) {
  if (!attributes)
    return success();
  auto count = static_cast<int64_t>(graph.getNumArguments());
  for (NamedAttribute attribute : attributes) {
    StringRef name = attribute.getName();
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    bool isI64 = number && number.getType().isSignlessInteger(64);
    if (name == kUidAttr) { // graph_c4
      if (!isI64 || number.getInt() < 1)
        return graph.emitOpError("expects a positive i64 as ")
               << name << " of " << what << ", but got " << attribute.getValue();
      if (!uids.insert(number.getInt()).second)
        return graph.emitOpError("expects unique uids, but ")
               << what << " reuses " << number.getInt();
    } else if (name == kByValueAttr) { // graph_c5
      if (argument < 0 || !isa<UnitAttr>(attribute.getValue()) ||
          llvm::any_of(
              cast<TensorDescType>(graph.getArgumentTypes()[argument]).getShape(),
              [](int64_t size) { return size != 1; }))
        return graph.emitOpError("expects ")
               << name << " to be a unit attribute of an argument with one element, but " << what
               << " has it";
    } else if (name == kRaggedOffsetAttr) { // graph_c6
      if (!isI64 || number.getInt() < 0 || number.getInt() >= count || number.getInt() == argument)
        return graph.emitOpError("expects the number of another argument as ")
               << name << " of " << what << ", but got " << attribute.getValue();
      Type type = graph.getArgumentTypes()[number.getInt()];
      Type element = cast<TensorDescType>(type).getElementType();
      DictionaryAttr other = graph.getArgAttrDict(number.getInt());
      if (!(element.isSignlessInteger(32) || element.isSignlessInteger(64)) ||
          (other && (other.contains(kRaggedOffsetAttr) || other.contains(kByValueAttr))))
        return graph.emitOpError("expects offsets of ")
               << what << " that are i32 or i64, in device memory and not ragged, but got " << type;
    } else if (name.starts_with("cudnn.")) { // graph_c7
      return graph.emitOpError("expects cudnn.uid, cudnn.by_value or cudnn.ragged_offset of ")
             << what << ", but got " << name;
    }
  }
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  llvm::SmallDenseSet<int64_t> uids;
  for (unsigned i = 0; i < getNumArguments(); ++i)
    if (failed(verifyTensorAttributes(*this, "argument #" + std::to_string(i), i, getArgAttrDict(i),
                                      uids)))
      return failure();
  for (unsigned i = 0; i < getNumResults(); ++i)
    if (failed(verifyTensorAttributes(*this, "result #" + std::to_string(i), -1,
                                      getResultAttrDict(i), uids)))
      return failure();
  if (!isa<ReturnOp>(getBody().front().getTerminator()))
    return emitOpError("expects 'cudnn.return' at the end of its body"); // graph_c2
  return verifyGraphBody(*this, getBody().front());
}

LogicalResult ReturnOp::verify() {
  // return_c1
  auto graph = dyn_cast<GraphOp>((*this)->getParentOp());
  if (!graph)
    return success();
  ArrayRef<Type> expected = graph.getResultTypes();
  if (expected.size() != getOperands().size())
    return emitOpError("expects ")
           << expected.size() << " operands, but got " << getOperands().size();
  for (auto [i, type] : llvm::enumerate(getOperandTypes()))
    if (type != expected[i])
      return emitOpError("expects operand #")
             << i << " of type " << expected[i] << ", but got " << type;
  return success();
}

/// Checks that `type` is the memory of a tensor of `desc`; `what` and `index` name it in messages.
static LogicalResult expectMemory(Operation *op, StringRef what, int64_t index, ShapedType type,
                                  TensorDescType desc,
                                  std::optional<int64_t> offset = std::nullopt) {
  // execute_c3, build_and_exec_graph_c2
  if (type.getElementType() != desc.getElementType())
    return op->emitOpError() << "expects " << what << " #" << index << " of element type "
                             << desc.getElementType() << ", but got " << type.getElementType();
  // execute_c6
  if (offset) {
    int64_t end = *offset + 1;
    for (auto [size, stride] : llvm::zip_equal(desc.getShape(), desc.getStrides()))
      end += (size - 1) * stride;
    if (*offset < 0 || end > type.getNumElements())
      return op->emitOpError() << "expects the elements of " << what << " #" << index
                               << " inside of " << type << ", but " << desc << " at offset "
                               << *offset << " ends at " << end;
    return success();
  }
  // execute_c4, build_and_exec_graph_c3
  if (!desc.isPacked())
    return op->emitOpError() << "expects a packed descriptor for " << what << " #" << index
                             << ", but got " << desc;
  if (!desc.isSameMemoryAs(type.getShape()))
    return op->emitOpError() << "expects " << what << " #" << index << " of shape "
                             << str(desc.getPhysicalShape()) << " for " << desc << ", but got "
                             << str(type.getShape());
  return success();
}

LogicalResult ExecuteOp::verify() {
  // execute_c5
  bool tensors = isa<TensorType>(getOutputs().empty() ? (*this)->getOperand(0).getType()
                                                      : getOutputs().front().getType());
  for (Value operand : (*this)->getOperands()) {
    if (isa<TensorType>(operand.getType()) != tensors)
      return emitOpError("expects only tensors or only memrefs, but got both");
    if (auto memref = dyn_cast<MemRefType>(operand.getType());
        memref && !memref.areTrailingDimsContiguous(memref.getRank()))
      return emitOpError("expects packed memrefs, but got ") << memref;
  }
  // execute_c6
  for (Value input : getInputs())
    if (auto memref = dyn_cast<MemRefType>(input.getType());
        getOffsets() && memref && !memref.getLayout().isIdentity())
      return emitOpError("expects inputs of identity layout with 'offsets', but got ") << memref;
  return success();
}

LogicalResult ExecuteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // execute_c1
  auto graph = symbols.lookupNearestSymbolFrom<GraphOp>(*this, getGraphAttr());
  if (!graph)
    return emitOpError("expects the name of a cudnn.graph, but got ") << getGraphAttr();
  std::optional<ArrayRef<int64_t>> offsets = getOffsets();
  if (offsets && offsets->size() != getInputs().size()) // execute_c6
    return emitOpError("expects an offset for each of ")
           << getInputs().size() << " inputs, but got " << offsets->size();
  auto check = [&](StringRef what, OperandRange operands, ArrayRef<Type> types,
                   std::optional<ArrayRef<int64_t>> offsets = std::nullopt) -> LogicalResult {
    // execute_c2
    if (operands.size() != types.size())
      return emitOpError("expects ") << types.size() << " " << what << "s for " << getGraphAttr()
                                     << ", but got " << operands.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(operands, types)))
      if (failed(expectMemory(*this, what, i, cast<ShapedType>(std::get<0>(pair).getType()),
                              cast<TensorDescType>(std::get<1>(pair)),
                              offsets ? std::optional((*offsets)[i]) : std::nullopt)))
        return failure();
    return success();
  };
  if (failed(check("input", getInputs(), graph.getArgumentTypes(), offsets)))
    return failure();
  return check("output", getOutputs(), graph.getResultTypes());
}

LogicalResult BuildAndExecGraphOp::verifyRegions() {
  Block &body = getBody().front();
  auto build = dyn_cast<BuildGraphOp>(body.getTerminator());
  if (!build)
    return emitOpError(
        "expects 'cudnn.build_graph' at the end of its body"); // build_and_exec_graph_c4
  if (failed(verifyGraphBody(*this, body)))
    return failure();
  auto check = [&](StringRef what, TypeRange types, TypeRange descriptors) -> LogicalResult {
    // build_and_exec_graph_c1
    if (types.size() != descriptors.size())
      return emitOpError("expects ") << types.size() << " descriptors of " << what
                                     << "s in its body, but got " << descriptors.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(types, descriptors))) {
      auto desc = dyn_cast<TensorDescType>(std::get<1>(pair));
      if (!desc)
        return emitOpError("expects a tensor descriptor for ")
               << what << " #" << i << ", but got " << std::get<1>(pair);
      if (failed(expectMemory(*this, what, i, cast<ShapedType>(std::get<0>(pair)), desc)))
        return failure();
    }
    return success();
  };
  if (failed(check("input", getInputs().getTypes(), body.getArgumentTypes())))
    return failure();
  return check("output", getOutputs().getTypes(), build.getOperandTypes());
}
