// The protocol of the backend API, checked against Descriptors.def. A label such as set_c1 is the constraint's number in the op's docs.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

//===-- set --------------------------------------------------------------------------------------------------------------===//

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
    return emitOpError("expects an attribute of ") << cudnnName(kind) << ", but got " << cudnnName(info.name);

  if (info.need == Need::read_only) // set_c6
    return emitOpError("expects an attribute that can be set, but got ") << cudnnName(info.name) << ", which is read-only";
  if (info.need == Need::reserved) // set_c6
    return emitOpError("expects an attribute that can be set, but got ") << cudnnName(info.name) << ", which no cuDNN 9 takes";

  std::optional<AttributeType> type = getValueType();
  if (!type) // set_c2
    return emitOpError("expects ") << cudnnName(info.name) << " as " << typeNames(info) << ", but got another value";
  auto name = dyn_cast_or_null<StringAttr>(getValueAttr());
  if (name && hasEnumerators(*type) && !lookupEnumerator(*type, name)) // set_c3
    return emitOpError("expects an enumerator of ") << get(*type).cname << ", but got '" << name.getValue() << "'";

  if (*type == AttributeType::int32)
    for (int64_t number : cast<DenseI64ArrayAttr>(*getValue()).asArrayRef())
      if (!llvm::isInt<32>(number)) // set_c7
        return emitOpError("expects numbers of 32 bits, but got ") << number;

  int64_t count = getCount();
  bool limited = info.count == CountRule::dims || info.count == CountRule::spatial;
  int64_t least = info.count == CountRule::any ? 0 : 1;
  int64_t most = info.count == CountRule::one ? 1 : limited ? kMaxDims : std::numeric_limits<int64_t>::max();
  if (count < least || count > most) { // set_c4
    InFlightDiagnostic diag = emitOpError("expects ") << (info.count == CountRule::one ? "one element" : "one or more elements");
    if (limited)
      diag << ", at most " << kMaxDims << ",";
    return diag << " of " << cudnnName(info.name) << ", but got " << count;
  }

  if (*type == AttributeType::descriptor)
    for (Value element : getElements())
      if (DescriptorKind actual = cast<DescriptorType>(element.getType()).getKind(); !matches(info.element, actual)) // set_c5
        return emitOpError("expects ") << cudnnName(info.name) << " to hold '" << llvm::to_string(info.element) << "', but got '"
                                       << llvm::to_string(actual) << "'";
  return success();
}

LogicalResult ReturnOp::verify() {
  if (DescriptorKind kind = getGraph().getType().getKind(); kind != DescriptorKind::operationgraph) // return_c1
    return emitOpError("expects a descriptor of kind 'operationgraph', but got '") << llvm::to_string(kind) << "'";
  return success();
}

//===-- func -------------------------------------------------------------------------------------------------------------===//

namespace {

/// What is known of one descriptor while the block is walked.
struct State {
  llvm::SmallDenseMap<AttributeName, SetOp> set;
  bool finalized = false;
  bool destroyed = false;
};

/// Walks a builder's block once.
class Protocol {
public:
  explicit Protocol(FuncOp func) : version(func.getMinimumVersion().value_or(kOldestVersion)) {}

  LogicalResult visit(CreateOp op) {
    const DescriptorInfo &info = get(op.getDescriptor().getType().getKind());
    if (llvm::all_of(attributesOf(info.kind), [](const AttributeInfo &it) { return it.need == Need::reserved; })) // func_c10
      return op.emitOpError("expects a kind that cuDNN makes, but got ") << cudnnName(info.kind) << ", which no cuDNN 9 has in use";
    states.try_emplace(op.getDescriptor());
    return checkVersion(op, cudnnName(info.kind), info.since);
  }

  LogicalResult visit(SetOp op) {
    const AttributeInfo &info = get(op.getName().getValue());
    State &state = states[op.getDescriptor()];
    if (state.destroyed || state.finalized) // func_c1
      return op.emitOpError("expects a descriptor that is not ") << (state.destroyed ? "destroyed" : "finalized");
    auto [previous, added] = state.set.try_emplace(info.name, op);
    if (!added) { // func_c2
      InFlightDiagnostic diag = op.emitOpError("expects to set ") << cudnnName(info.name) << " once";
      diag.attachNote(previous->second.getLoc()) << "it was set here before";
      return diag;
    }
    for (Value element : op.getElements())
      if (isa<DescriptorType>(element.getType()) && failed(checkUsable(op, element, "a descriptor"))) // func_c5
        return failure();
    if (auto name = dyn_cast_or_null<StringAttr>(op.getValueAttr())) {
      const EnumeratorInfo *enumerator = lookupEnumerator(info.type, name);
      if (enumerator && failed(checkVersion(op, enumerator->cname, enumerator->since)))
        return failure();
    }
    return checkVersion(op, cudnnName(info.name), info.since);
  }

  LogicalResult visit(FinalizeOp op) {
    DescriptorKind kind = op.getDescriptor().getType().getKind();
    State &state = states[op.getDescriptor()];
    if (isReadOnly(kind)) // func_c10
      return op.emitOpError("expects a kind that a program finalizes, but got ") << cudnnName(kind) << ", which cuDNN fills";
    if (state.destroyed || state.finalized) // func_c6
      return op.emitOpError("expects a descriptor that is not ") << (state.destroyed ? "destroyed" : "finalized");
    state.finalized = true;
    SmallVector<std::string> either;
    bool hasOne = false;
    for (const AttributeInfo &info : attributesOf(kind)) {
      bool isSet = state.set.contains(info.name);
      if (info.need == Need::required && !isSet) // func_c3
        return op.emitOpError("expects ") << cudnnName(info.name) << " to be set before";
      if (info.need == Need::either) {
        either.push_back(cudnnName(info.name));
        hasOne |= isSet;
      }
    }
    if (!either.empty() && !hasOne) // func_c3
      return op.emitOpError("expects ") << llvm::join(either, " or ") << " to be set before";
    return checkCounts(op, kind, state);
  }

  LogicalResult visit(DestroyOp op) {
    State &state = states[op.getDescriptor()];
    if (state.destroyed) // func_c7
      return op.emitOpError("expects a descriptor that is not destroyed");
    state.destroyed = true;
    return success();
  }

  LogicalResult visit(ReturnOp op) {
    if (failed(checkUsable(op, op.getGraph(), "a graph"))) // func_c8
      return failure();
    for (auto &[descriptor, state] : states)
      if (!state.destroyed && descriptor != op.getGraph()) // func_c7
        return descriptor.getDefiningOp()->emitOpError("expects its descriptor to be destroyed before the function returns");
    return success();
  }

private:
  LogicalResult checkUsable(Operation *op, Value descriptor, StringRef what) {
    const State &state = states[descriptor];
    if (state.destroyed)
      return op->emitOpError("expects ") << what << " that is not destroyed";
    if (!state.finalized)
      return op->emitOpError("expects ") << what << " that is finalized";
    return success();
  }

  LogicalResult checkVersion(Operation *op, const Twine &what, int64_t since) {
    if (since > version) // func_c9
      return op->emitOpError("expects what cuDNN ")
             << versionText(version) << " has, but got " << what << ", which needs " << versionText(since);
    return success();
  }

  LogicalResult checkCounts(FinalizeOp op, DescriptorKind kind, const State &state) {
    SetOp dims;
    std::optional<int64_t> spatial;
    for (const AttributeInfo &info : attributesOf(kind))
      if (SetOp set = state.set.lookup(info.name); set && info.text.ends_with("_spatial_dims"))
        spatial = cast<DenseI64ArrayAttr>(*set.getValue())[0];
    for (const AttributeInfo &info : attributesOf(kind)) {
      SetOp set = state.set.lookup(info.name);
      if (!set)
        continue;
      if (info.count == CountRule::spatial && set.getCount() != *spatial) // func_c4
        return set.emitOpError("expects as many elements as spatial dims, ") << *spatial << ", but got " << set.getCount();
      if (info.count != CountRule::dims)
        continue;
      if (dims && dims.getCount() != set.getCount()) // func_c4
        return set.emitOpError("expects as many elements as ")
               << cudnnName(dims.getName().getValue()) << ", " << dims.getCount() << ", but got " << set.getCount();
      dims = set;
    }
    return success();
  }

  int64_t version;
  llvm::MapVector<Value, State> states;
};

} // namespace

LogicalResult FuncOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 1 || !isa<HandleType>(block.getArgument(0).getType()))
    return emitOpError("expects one argument, the handle, but got ") << block.getNumArguments();
  Protocol protocol(*this);
  for (Operation &op : block) {
    LogicalResult result = llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                               .Case<CreateOp, SetOp, FinalizeOp, DestroyOp, ReturnOp>([&](auto op) { return protocol.visit(op); })
                               .Default([](Operation *op) { return op->emitOpError("is not an op of a builder"); });
    if (failed(result))
      return failure();
  }
  return success();
}

//===-- the runtime ------------------------------------------------------------------------------------------------------===//

static LogicalResult verifyCall(Operation *op, ValueRange buffers, ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!function || function.getNumResults() != 1 || !function.getResultTypes()[0].isInteger(32)) // execute_c1, launch_c1, copy_c1
    return op->emitOpError("expects to stand at the top level of a function whose one result is an i32, the status");
  for (auto [name, number] : numbers)
    if (number < 0) // execute_c2, launch_c2
      return op->emitOpError("expects '") << name << "' not to be negative, but got " << number;
  for (Value buffer : buffers)
    if (auto type = dyn_cast<BaseMemRefType>(buffer.getType());
        type && (!type.hasRank() || !type.hasStaticShape())) // execute_c3, launch_c3
      return op->emitOpError("expects buffers of static shape, but got ") << type;
  return success();
}

LogicalResult ExecuteGraphOp::verify() { return verifyCall(*this, getBuffers(), {{"call", static_cast<int32_t>(getCall())}}); }

LogicalResult LaunchKernelOp::verify() {
  for (auto [name, sizes] : {std::pair(StringRef("grid"), getGrid()), std::pair(StringRef("block"), getBlock())})
    if (sizes.size() != 3 || llvm::any_of(sizes, [](int32_t size) { return size < 1; })) // launch_c4
      return emitOpError("expects three sizes of '") << name << "', each 1 or more, but got [" << sizes << "]";
  return verifyCall(*this, getBuffers(), {{"kernel", static_cast<int32_t>(getKernel())}, {"shared", static_cast<int32_t>(getShared())}});
}

LogicalResult CopyOp::verify() {
  auto destination = cast<MemRefType>(getDestination().getType()), source = cast<MemRefType>(getSource().getType());
  bool fit = destination.getElementType() == source.getElementType() && destination.hasStaticShape() && source.hasStaticShape() &&
             destination.getLayout().isIdentity() && source.getLayout().isIdentity() &&
             destination.getNumElements() == source.getNumElements();
  if (!fit) // copy_c2
    return emitOpError("expects packed memrefs with as many elements of one type, but got ") << destination << " and " << source;
  return verifyCall(*this, {}, {});
}
