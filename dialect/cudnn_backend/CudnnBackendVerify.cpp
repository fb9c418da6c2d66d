// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of single ops, based on Descriptors.def. Labels such as set_c1 refer to the constraints
// in the op's description.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

//===-- set ----------------------------------------------------------------===//

static std::string typeNames(const AttributeInfo &info) {
  std::string names = get(info.type).cname.str();
  if (info.alternative != AttributeType::none)
    names += " or " + get(info.alternative).cname.str();
  return names;
}

LogicalResult SetOp::verify() {
  const AttributeInfo &info = get(getName().getValue());
  DescriptorKind kind = getDescriptor().getType().getKind();
  if (info.kind != kind) // set_c1
    return emitOpError("expects an attribute of ")
           << cudnnName(kind) << ", but got " << cudnnName(info.name);

  if (info.need == Need::read_only) // set_c6
    return emitOpError("expects an attribute that can be set, but got ")
           << cudnnName(info.name) << ", which is read-only";
  if (info.need == Need::reserved) // set_c6
    return emitOpError("expects an attribute that can be set, but got ")
           << cudnnName(info.name) << ", which is reserved in cuDNN 9";

  std::optional<AttributeType> type = getValueType();
  if (!type) // set_c2
    return emitOpError("expects ")
           << cudnnName(info.name) << " as " << typeNames(info) << ", but got another value";
  auto name = dyn_cast_or_null<StringAttr>(getValueAttr());
  if (name && hasEnumerators(*type) && !lookupEnumerator(*type, name)) // set_c3
    return emitOpError("expects an enumerator of ")
           << get(*type).cname << ", but got '" << name.getValue() << "'";

  if (*type == AttributeType::int32)
    for (int64_t number : cast<DenseI64ArrayAttr>(*getValue()).asArrayRef())
      if (!llvm::isInt<32>(number)) // set_c7
        return emitOpError("expects 32-bit numbers, but got ") << number;

  int64_t count = getCount();
  bool limited = info.count == CountRule::dims || info.count == CountRule::spatial;
  int64_t least = info.count == CountRule::any ? 0 : 1;
  int64_t most = info.count == CountRule::one ? 1
                 : limited                    ? kMaxDims
                                              : std::numeric_limits<int64_t>::max();
  if (count < least || count > most) { // set_c4
    InFlightDiagnostic diag = emitOpError("expects ")
                              << (info.count == CountRule::one ? "one element"
                                                               : "one or more elements");
    if (limited)
      diag << ", at most " << kMaxDims << ",";
    return diag << " of " << cudnnName(info.name) << ", but got " << count;
  }

  if (*type == AttributeType::descriptor)
    for (Value element : getElements())
      if (DescriptorKind actual = cast<DescriptorType>(element.getType()).getKind();
          !matches(info.element, actual)) // set_c5
        return emitOpError("expects ")
               << cudnnName(info.name) << " to hold '" << llvm::to_string(info.element)
               << "', but got '" << llvm::to_string(actual) << "'";
  return success();
}

//===-- get ----------------------------------------------------------------===//

/// get_c1, get_descriptors_c1.
template <typename Op> static LogicalResult verifyReadable(Op op, const AttributeInfo &info) {
  if (DescriptorKind kind = op.getDescriptor().getType().getKind(); info.kind != kind)
    return op.emitOpError("expects an attribute of ")
           << cudnnName(kind) << ", but got " << cudnnName(info.name);
  if (info.need == Need::reserved)
    return op.emitOpError("expects an attribute that can be read, but got ")
           << cudnnName(info.name) << ", which is reserved in cuDNN 9";
  return success();
}

/// The MLIR type of one element; null if the element is not a number, boolean or enumerator.
static Type numberType(MLIRContext *context, AttributeType type) {
  Builder builder(context);
  switch (type) {
  case AttributeType::boolean:
    return builder.getI1Type();
  case AttributeType::int32:
  case AttributeType::attrib_name:
    return builder.getI32Type();
  case AttributeType::int64:
    return builder.getI64Type();
  case AttributeType::float32:
    return builder.getF32Type();
  case AttributeType::float64:
    return builder.getF64Type();
  default:
    return hasEnumerators(type) ? builder.getI32Type() : Type();
  }
}

LogicalResult GetOp::verify() {
  const AttributeInfo &info = get(getName().getValue());
  if (failed(verifyReadable(*this, info)))
    return failure();
  Type expected = numberType(getContext(), info.type);
  if (!expected || info.count != CountRule::one) // get_c2
    return emitOpError("expects an attribute of one number, but got ") << cudnnName(info.name);
  Type alternative = numberType(getContext(), info.alternative);
  if (Type actual = getValue().getType(); actual != expected && actual != alternative) // get_c3
    return emitOpError("expects ")
           << cudnnName(info.name) << " as " << expected << ", but got " << actual;
  return success();
}

LogicalResult GetDescriptorsOp::verify() {
  const AttributeInfo &info = get(getName().getValue());
  if (failed(verifyReadable(*this, info)))
    return failure();
  if (info.type != AttributeType::descriptor) // get_descriptors_c2
    return emitOpError("expects an attribute that holds descriptors, but got ")
           << cudnnName(info.name);
  if (getElements().empty()) // get_descriptors_c3
    return emitOpError("expects one or more descriptors to fill, but got 0");
  for (Value element : getElements())
    if (DescriptorKind actual = cast<DescriptorType>(element.getType()).getKind();
        !matches(info.element, actual)) // get_descriptors_c3
      return emitOpError("expects ")
             << cudnnName(info.name) << " to hold '" << llvm::to_string(info.element)
             << "', but got '" << llvm::to_string(actual) << "'";
  return success();
}

//===-- the runtime --------------------------------------------------------===//

static LogicalResult verifyCall(Operation *op, ValueRange buffers,
                                ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  Operation *parent = op->getParentOp();
  while (isa<LoopLikeOpInterface>(parent))
    parent = parent->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(parent);
  if (!function || function.getNumResults() != 1 ||
      !function.getResultTypes()[0].isInteger(32)) // execute_c1, launch_c1, copy_c1
    return op->emitOpError(
        "expects to be at the top level, or in a loop, of a function whose only result is an i32, "
        "the status");
  for (auto [name, number] : numbers)
    if (number < 0) // execute_c2, launch_c2
      return op->emitOpError("expects a non-negative '") << name << "', but got " << number;
  for (Value buffer : buffers)
    if (auto type = dyn_cast<BaseMemRefType>(buffer.getType());
        type && (!type.hasRank() || !type.hasStaticShape())) // execute_c3, launch_c3
      return op->emitOpError("expects buffers of static shape, but got ") << type;
  return success();
}

LogicalResult ExecuteGraphOp::verify() {
  return verifyCall(*this, getBuffers(), {{"call", static_cast<int32_t>(getCall())}});
}

LogicalResult LaunchKernelOp::verify() {
  for (auto [name, sizes] :
       {std::pair(StringRef("grid"), getGrid()), std::pair(StringRef("block"), getBlock())})
    if (sizes.size() != 3 ||
        llvm::any_of(sizes, [](int32_t size) { return size < 1; })) // launch_c4
      return emitOpError("expects three positive sizes in '")
             << name << "', but got [" << sizes << "]";
  return verifyCall(*this, getBuffers(),
                    {{"kernel", static_cast<int32_t>(getKernel())},
                     {"shared", static_cast<int32_t>(getShared())}});
}

LogicalResult CopyOp::verify() {
  auto destination = cast<MemRefType>(getDestination().getType()),
       source = cast<MemRefType>(getSource().getType());
  bool fit = destination.getElementType() == source.getElementType() &&
             destination.hasStaticShape() && source.hasStaticShape() &&
             destination.getLayout().isIdentity() && source.getLayout().isIdentity() &&
             destination.getNumElements() == source.getNumElements();
  if (!fit) // copy_c2
    return emitOpError("expects packed memrefs with equal numbers and types of elements, but got ")
           << destination << " and " << source;
  return verifyCall(*this, {}, {});
}
