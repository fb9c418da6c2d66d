// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calls of a function as bytes: elements of values, and a hash of all calls.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

/// Appends the bytes of `number` in the byte order of the target.
template <typename T> static void append(std::string &bytes, T number) {
  char buffer[sizeof(T)];
  llvm::support::endian::write(buffer, number, llvm::endianness::little);
  bytes.append(buffer, sizeof buffer);
}

std::string SetOp::getBytes() {
  std::string bytes;
  AttributeType type = *getValueType();
  llvm::TypeSwitch<Attribute>(*getValue())
      .Case([&](DenseI64ArrayAttr numbers) {
        for (int64_t each : numbers.asArrayRef())
          type == AttributeType::int32 ? append(bytes, static_cast<int32_t>(each))
                                       : append(bytes, each);
      })
      .Case([&](FractionsAttr fractions) {
        for (int64_t each : fractions.getNumbers())
          append(bytes, each);
      })
      .Case([&](BoolAttr flag) { bytes.push_back(static_cast<char>(flag.getValue())); })
      .Case([&](FloatAttr number) {
        APInt pattern = number.getValue().bitcastToAPInt();
        pattern.getBitWidth() == 32 ? append(bytes, static_cast<uint32_t>(pattern.getZExtValue()))
                                    : append(bytes, pattern.getZExtValue());
      })
      .Case([&](StringAttr text) {
        if (type == AttributeType::character)
          bytes = text.str() + '\0';
        else
          append(bytes, lookupEnumerator(type, text.getValue())->number);
      });
  return bytes;
}

std::string FuncOp::getFingerprint() {
  assert(getFurtherArguments().empty() && "the function builds a graph");
  llvm::DenseMap<Value, int64_t> numbers;
  std::string bytes;
  // The same bytes that runtime/convoy_runtime/cuda/plans/fingerprint.py hashes: a letter, the
  // number of the descriptor (from 1), and the operands.
  auto write = [&](char letter, ArrayRef<int64_t> words) {
    bytes.push_back(letter);
    for (int64_t word : words)
      append(bytes, word);
  };
  for (Operation &op : getBody().front()) {
    if (auto create = dyn_cast<CreateOp>(op)) {
      int64_t number =
          numbers.try_emplace(create.getDescriptor(), numbers.size() + 1).first->second;
      write('c', {static_cast<int64_t>(create.getDescriptor().getType().getKind()), number});
    } else if (auto finalize = dyn_cast<FinalizeOp>(op)) {
      write('f', {numbers.lookup(finalize.getDescriptor())});
    } else if (auto set = dyn_cast<SetOp>(op)) {
      AttributeType type = *set.getValueType();
      // A handle differs between processes, and a null handle is not set.
      if (type == AttributeType::handle)
        continue;
      int64_t name = static_cast<int64_t>(set.getName().getValue());
      write('s', {numbers.lookup(set.getDescriptor()), name, static_cast<int64_t>(type),
                  set.getCount()});
      if (set.getValue())
        bytes += StringRef(set.getBytes()).take_front(set.getCount() * get(type).bytes);
      for (Value element : set.getElements())
        append(bytes, numbers.lookup(element));
    }
  }
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}
