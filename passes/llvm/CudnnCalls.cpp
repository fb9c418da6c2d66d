// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/llvm/CudnnCalls.h"
#include "passes/common/Buffers.h"
#include "passes/common/Locations.h"
#include "runtime/support/convoy_calls.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

uint32_t CudnnCallTables::kind(int32_t action, int32_t number, int32_t type,
                               const std::string &what) {
  uint32_t offset = what.empty() ? 0 : text(what);
  auto [place, isNew] = numbers.try_emplace({action, number, type, offset}, numbers.size());
  if (isNew)
    llvm::append_values(kinds, action, number, type, static_cast<int32_t>(offset));
  return place->second;
}

uint32_t CudnnCallTables::text(const std::string &text) {
  auto [place, isNew] = texts.try_emplace(text, data.size());
  if (isNew)
    data.append(text.c_str(), text.size() + 1);
  return place->second;
}

/// Appends the bytes of `number` in the byte order of the target.
template <typename T> static void append(std::string &bytes, T number) {
  char buffer[sizeof(T)];
  llvm::support::endian::write(buffer, number, llvm::endianness::little);
  bytes.append(buffer, sizeof buffer);
}

uint32_t CudnnCallTables::payload(int64_t count, StringRef bytes) {
  std::string content;
  append(content, count);
  content += bytes;
  auto [place, isNew] = payloads.try_emplace(content, 0);
  if (isNew) {
    data.resize(llvm::alignTo(data.size(), sizeof(int64_t)));
    place->second = data.size();
    data += content;
  }
  return place->second;
}

uint32_t CudnnCallTables::list(ArrayRef<int64_t> elements) {
  std::string bytes;
  for (int64_t each : elements)
    append(bytes, each);
  return payload(elements.size(), bytes);
}

namespace {

class Encoder {
public:
  Encoder(FuncOp func, CudnnCallTables &tables) : func(func), tables(tables) {}

  SmallVector<int32_t> encode() {
    Block &body = func.getBody().front();
    for (Value argument : body.getArguments())
      slots.try_emplace(argument, slots.size());
    for (auto create : body.getOps<CreateOp>())
      slots.try_emplace(create.getDescriptor(), slots.size());
    for (Operation &op : body) {
      setLocation(op.getLoc());
      llvm::TypeSwitch<Operation *>(&op)
          .Case<CreateOp, SetOp, FinalizeOp, DestroyOp, GetOp, GetDescriptorsOp, ExecutePlanOp,
                ReturnOp>([&](auto op) { encode(op); });
    }
    // Sizes of arrays of the interpreter, at least 1 (convoy_calls.h).
    auto count = [](size_t number) { return static_cast<int32_t>(std::max<size_t>(number, 1)); };
    SmallVector<int32_t> words = {static_cast<int32_t>(calls.size() / 2),
                                  static_cast<int32_t>(body.getNumArguments()),
                                  count(slots.size()),
                                  count(longest),
                                  count(numbers.size()),
                                  0};
    llvm::append_range(words, calls);
    return words;
  }

private:
  void call(uint32_t kind, uint32_t operand = 0) {
    llvm::append_values(calls, static_cast<int32_t>(kind), static_cast<int32_t>(operand));
  }
  uint32_t slot(Value value) { return slots.lookup(value); }
  uint32_t listOf(ValueRange values, ArrayRef<int64_t> first = {}) {
    SmallVector<int64_t> elements(first);
    for (Value value : values)
      elements.push_back(slot(value));
    longest = std::max(longest, elements.size());
    return tables.list(elements);
  }

  /// Sets the source location of the next calls.
  void setLocation(Location loc) {
    std::string text = placeText(loc);
    if (text == place)
      return;
    call(tables.kind(CONVOY_LOCATION), tables.text(text));
    place = text;
  }

  void select(Value descriptor) {
    if (selected != descriptor)
      call(tables.kind(CONVOY_SELECT), slot(descriptor));
    selected = descriptor;
  }

  void encode(CreateOp op) {
    selected = op.getDescriptor();
    DescriptorKind kind = op.getDescriptor().getType().getKind();
    call(tables.kind(CONVOY_CREATE, static_cast<int32_t>(kind), 0,
                     "cudnnBackendCreateDescriptor(" + cudnnName(kind) + ")"),
         slot(selected));
  }

  void encode(SetOp op) {
    select(op.getDescriptor());
    AttributeName name = op.getName().getValue();
    AttributeType type = *op.getValueType();
    std::string what = "cudnnBackendSetAttribute(" + cudnnName(name) + ")";
    auto kind = [&](ConvoyAction action) {
      return tables.kind(action, static_cast<int32_t>(name), static_cast<int32_t>(type), what);
    };
    if (type == AttributeType::handle)
      call(kind(CONVOY_SET_HANDLE));
    else if (op.getValue())
      call(kind(CONVOY_SET), tables.payload(op.getCount(), op.getBytes()));
    else
      call(kind(CONVOY_SET_SLOTS), listOf(op.getElements()));
  }

  void encode(FinalizeOp op) {
    std::string name = cudnnName(op.getDescriptor().getType().getKind());
    call(tables.kind(CONVOY_FINALIZE, 0, 0, "cudnnBackendFinalize(" + name + ")"),
         slot(op.getDescriptor()));
  }

  void encode(DestroyOp op) {
    std::string name = cudnnName(op.getDescriptor().getType().getKind());
    call(tables.kind(CONVOY_DESTROY, 0, 0, "cudnnBackendDestroyDescriptor(" + name + ")"),
         slot(op.getDescriptor()));
  }

  void encode(GetOp op) {
    select(op.getDescriptor());
    AttributeName name = op.getName().getValue();
    const AttributeInfo &info = get(name);
    Type type = op.getValue().getType();
    // The verifier also accepts the alternative type, a float of the other width.
    bool isAlternative = info.alternative != AttributeType::none &&
                         type.isF32() != (info.type == AttributeType::float32);
    AttributeType queried = isa<FloatType>(type) && isAlternative ? info.alternative : info.type;
    call(tables.kind(CONVOY_GET, static_cast<int32_t>(name), static_cast<int32_t>(queried),
                     "cudnnBackendGetAttribute(" + cudnnName(name) + ")"),
         number(op.getValue()));
  }

  void encode(GetDescriptorsOp op) {
    select(op.getDescriptor());
    AttributeName name = op.getName().getValue();
    call(tables.kind(CONVOY_GET_DESCRIPTORS, static_cast<int32_t>(name),
                     static_cast<int32_t>(AttributeType::descriptor),
                     "cudnnBackendGetAttribute(" + cudnnName(name) + ")"),
         listOf(op.getElements(), number(op.getCount())));
  }

  void encode(ExecutePlanOp op) {
    call(tables.kind(CONVOY_EXECUTE, 0, 0, "cudnnBackendExecute"),
         listOf({op.getHandle(), op.getPlan(), op.getPack()}));
  }

  void encode(ReturnOp op) {
    for (auto [index, value] : llvm::enumerate(op.getResults())) {
      if (isa<DescriptorType>(value.getType())) {
        call(tables.kind(CONVOY_RETURN_DESCRIPTOR, index), slot(value));
        continue;
      }
      call(tables.kind(CONVOY_RETURN_NUMBER, index, elementBytes(value.getType())), number(value));
    }
  }

  /// The index of a number that is read.
  uint32_t number(Value value) { return numbers.try_emplace(value, numbers.size()).first->second; }

  FuncOp func;
  CudnnCallTables &tables;
  SmallVector<int32_t> calls;
  llvm::DenseMap<Value, uint32_t> slots, numbers;
  size_t longest = 0;
  Value selected;
  std::string place;
};

} // namespace

SmallVector<int32_t> convoy::encodeCalls(FuncOp func, CudnnCallTables &tables) {
  return Encoder(func, tables).encode();
}
