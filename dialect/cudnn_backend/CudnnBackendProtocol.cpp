// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks the protocol of the backend API over a whole function against Descriptors.def: func_c1 to
// func_c12.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

namespace {

/// The state of a descriptor at the current op.
struct State {
  llvm::SmallDenseMap<AttributeName, SetOp> set;
  bool finalized = false;
  bool destroyed = false;
  /// An argument, which belongs to the caller.
  bool isArgument = false;
};

/// Checks the ops of a function in program order.
class Protocol {
public:
  explicit Protocol(FuncOp func) : version(func.getMinimumVersion().value_or(kMinimumCudnn)) {
    for (BlockArgument argument : func.getFurtherArguments())
      if (isa<DescriptorType>(argument.getType()))
        states[argument].finalized = states[argument].isArgument = true;
  }

  LogicalResult visit(CreateOp op) {
    const DescriptorInfo &info = get(op.getDescriptor().getType().getKind());
    if (llvm::all_of(attributesOf(info.kind),
                     [](const AttributeInfo &it) { return it.need == Need::reserved; })) // func_c10
      return op.emitOpError("expects a kind that cuDNN can create, but got ")
             << cudnnName(info.kind) << ", which is reserved in cuDNN 9";
    states.try_emplace(op.getDescriptor());
    return checkVersion(op, cudnnName(info.kind), info.since);
  }

  LogicalResult visit(SetOp op) {
    const AttributeInfo &info = get(op.getName().getValue());
    State &state = states[op.getDescriptor()];
    if (failed(checkOwn(op, state)))
      return failure();
    if (state.destroyed || state.finalized) // func_c1
      return op.emitOpError("expects a descriptor that is not ")
             << (state.destroyed ? "destroyed" : "finalized");
    auto [previous, added] = state.set.try_emplace(info.name, op);
    if (!added) { // func_c2
      InFlightDiagnostic diag = op.emitOpError("expects to set ")
                                << cudnnName(info.name) << " once";
      diag.attachNote(previous->second.getLoc()) << "first set here";
      return diag;
    }
    for (Value element : op.getElements())
      if (isa<DescriptorType>(element.getType()) &&
          failed(checkUsable(op, element, "a descriptor"))) // func_c5
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
    if (failed(checkOwn(op, state)))
      return failure();
    if (isReadOnly(kind)) // func_c10
      return op.emitOpError("expects a kind that can be finalized, but got ")
             << cudnnName(kind) << ", which cuDNN fills";
    if (state.destroyed || state.finalized) // func_c6
      return op.emitOpError("expects a descriptor that is not ")
             << (state.destroyed ? "destroyed" : "finalized");
    state.finalized = true;
    SmallVector<std::string> either;
    bool hasOne = false;
    for (const AttributeInfo &info : attributesOf(kind)) {
      bool isSet = state.set.contains(info.name);
      if (info.need == Need::required && !isSet) // func_c3
        return op.emitOpError("expects ") << cudnnName(info.name) << " to be set";
      if (info.need == Need::either) {
        either.push_back(cudnnName(info.name));
        hasOne |= isSet;
      }
    }
    if (!either.empty() && !hasOne) // func_c3
      return op.emitOpError("expects ") << llvm::join(either, " or ") << " to be set";
    return checkCounts(op, kind, state);
  }

  LogicalResult visit(DestroyOp op) {
    State &state = states[op.getDescriptor()];
    if (failed(checkOwn(op, state)))
      return failure();
    if (state.destroyed) // func_c7
      return op.emitOpError("expects a descriptor that is not destroyed");
    state.destroyed = true;
    return success();
  }

  LogicalResult visit(GetOp op) { return visitRead(op); }

  LogicalResult visit(GetDescriptorsOp op) {
    if (failed(visitRead(op)))
      return failure();
    for (Value element : op.getElements()) {
      State &state = states[element];
      if (failed(checkOwn(op, state)))
        return failure();
      if (state.destroyed || state.finalized) // func_c1
        return op.emitOpError("expects to fill a descriptor that is not ")
               << (state.destroyed ? "destroyed" : "finalized");
      state.finalized = true;
    }
    return success();
  }

  LogicalResult visit(ExecutePlanOp op) {
    return failure(failed(checkUsable(op, op.getPlan(), "a plan")) ||
                   failed(checkUsable(op, op.getPack(), "a variant pack"))); // func_c5
  }

  LogicalResult visit(ReturnOp op) {
    for (Value result : op.getResults())
      if (isa<DescriptorType>(result.getType())) {
        if (failed(checkOwn(op, states[result])) ||
            failed(checkUsable(op, result, "a descriptor"))) // func_c8
          return failure();
        states[result].destroyed = true;
      }
    for (auto &[descriptor, state] : states)
      if (!state.destroyed && !state.isArgument) // func_c7
        return descriptor.getDefiningOp()->emitOpError(
            "expects its descriptor to be destroyed before the function returns");
    return success();
  }

private:
  template <typename Op> LogicalResult visitRead(Op op) {
    const AttributeInfo &info = get(op.getName().getValue());
    if (failed(checkUsable(op, op.getDescriptor(), "a descriptor"))) // func_c5
      return failure();
    return checkVersion(op, cudnnName(info.name), info.since);
  }

  LogicalResult checkOwn(Operation *op, const State &state) {
    if (state.isArgument) // func_c11
      return op->emitOpError("expects a descriptor created in this function, but got an argument");
    return success();
  }

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
      return op->emitOpError("expects features of cuDNN ")
             << versionText(version) << ", but got " << what << ", which needs "
             << versionText(since);
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
        return set.emitOpError("expects ")
               << *spatial << " elements, one per spatial dim, but got " << set.getCount();
      if (info.count != CountRule::dims)
        continue;
      if (dims && dims.getCount() != set.getCount()) // func_c4
        return set.emitOpError("expects ")
               << dims.getCount() << " elements like " << cudnnName(dims.getName().getValue())
               << ", but got " << set.getCount();
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
  if (block.getNumArguments() == 0) // func_c12
    return emitOpError("expects the handle as the first argument, but got no argument");
  if (Type first = block.getArgument(0).getType(); !isa<HandleType>(first)) // func_c12
    return emitOpError("expects the handle as the first argument, but got ") << first;
  for (BlockArgument argument : getFurtherArguments())
    if (!isa<DescriptorType, LLVM::LLVMPointerType>(argument.getType())) // func_c12
      return emitOpError("expects descriptors and pointers after the handle, but got ")
             << argument.getType();
  Protocol protocol(*this);
  for (Operation &op : block) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case<CreateOp, SetOp, FinalizeOp, DestroyOp, GetOp, GetDescriptorsOp, ExecutePlanOp,
                  ReturnOp>([&](auto op) { return protocol.visit(op); })
            .Default([](Operation *op) {
              return op->emitOpError("is not allowed in 'cudnn_backend.func'");
            });
    if (failed(result))
      return failure();
  }
  return success();
}
