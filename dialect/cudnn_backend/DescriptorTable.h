// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Descriptors.def as C++: enums with cuDNN's values, and lookup functions. Independent of MLIR.

#ifndef CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H
#define CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

namespace convoy::cudnn_backend {

/// cudnnBackendDescriptorType_t. Negative values are for AttributeInfo::element only.
enum class DescriptorKind : int32_t {
  none = -1,
  operation = -2,
#define BACKEND_DESCRIPTOR(kind, number, since) kind = number,
#include "dialect/cudnn_backend/Descriptors.def"
};

/// cudnnBackendAttributeName_t.
enum class AttributeName : int32_t {
#define BACKEND_ATTRIBUTE(kind, name, number, type, alternative, count, need, initial, element,    \
                          since)                                                                   \
  name = number,
#include "dialect/cudnn_backend/Descriptors.def"
};

/// cudnnBackendAttributeType_t.
enum class AttributeType : int32_t {
  none = -1,
#define BACKEND_TYPE(name, cname, number, ctype, bytes) name = number,
#include "dialect/cudnn_backend/Descriptors.def"
};

/// Number of elements of an attribute; see Descriptors.def.
enum class CountRule { one, dims, spatial, many, any };

/// Whether an attribute must be set. A descriptor needs at least one of its `either` attributes.
enum class Need { required, optional, either, read_only, reserved };

/// CUDNN_MAX_DIMS.
inline constexpr int64_t kMaxDims = 8;

/// The oldest cuDNN that compiled programs support, in the format of CUDNN_VERSION. Since 9.2.0
/// cuDNN reports the workspace of an engine configuration before a plan is built from it, which the
/// runtime needs. Must equal `MINIMUM` of the runtime's cuDNN module.
inline constexpr int64_t kMinimumCudnn = 90200;

struct DescriptorInfo {
  DescriptorKind kind;
  llvm::StringLiteral name;
  int32_t since;
};

struct AttributeInfo {
  DescriptorKind kind;
  AttributeName name;
  llvm::StringLiteral text;
  AttributeType type;
  /// A second type that cuDNN accepts, or none.
  AttributeType alternative;
  CountRule count;
  Need need;
  /// The kind of descriptor that the attribute holds, for AttributeType::descriptor.
  DescriptorKind element;
  int32_t since;

  bool takes(AttributeType other) const { return other == type || other == alternative; }
};

struct TypeInfo {
  AttributeType type;
  llvm::StringLiteral name;
  /// CUDNN_TYPE_...
  llvm::StringLiteral cname;
  /// Size of one element.
  int32_t bytes;
};

struct EnumeratorInfo {
  AttributeType type;
  llvm::StringLiteral name;
  /// CUDNN_...
  llvm::StringLiteral cname;
  int32_t number;
  int32_t since;
};

const DescriptorInfo &get(DescriptorKind kind);
const AttributeInfo &get(AttributeName name);
const TypeInfo &get(AttributeType type);

std::optional<DescriptorKind> lookupDescriptor(llvm::StringRef name);
std::optional<AttributeName> lookupAttribute(llvm::StringRef name);
/// Null when the type has no enumerator of that name.
const EnumeratorInfo *lookupEnumerator(AttributeType type, llvm::StringRef name);
bool hasEnumerators(AttributeType type);

/// A descriptor's attributes, in the order of Descriptors.def.
llvm::ArrayRef<AttributeInfo> attributesOf(DescriptorKind kind);

/// Whether cuDNN fills descriptors of the kind, so that they are neither set nor finalized.
bool isReadOnly(DescriptorKind kind);

/// CUDNN_BACKEND_<KIND>_DESCRIPTOR.
std::string cudnnName(DescriptorKind kind);
/// CUDNN_ATTR_<NAME>.
std::string cudnnName(AttributeName name);

/// Whether a descriptor of kind `actual` is of kind `wanted`; DescriptorKind::operation matches
/// every operation.
bool matches(DescriptorKind wanted, DescriptorKind actual);

/// Formats a version: "9.4.0" for 90400.
std::string versionText(int64_t version);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, DescriptorKind kind);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, AttributeName name);

} // namespace convoy::cudnn_backend

#endif // CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H
