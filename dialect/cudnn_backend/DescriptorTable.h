// Descriptors.def as C++: enums with cuDNN's numbers, and look-ups. Nothing here knows MLIR.

#ifndef CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H
#define CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

namespace convoy::cudnn_backend {

/// cudnnBackendDescriptorType_t. The two below zero are for AttributeInfo::element only.
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

/// How many elements an attribute has.
enum class CountRule { one, dims, spatial, many, any };

/// Whether an attribute is set: of those that say `either`, a descriptor needs at least one.
enum class Need { required, optional, either, read_only, reserved };

/// CUDNN_MAX_DIMS.
inline constexpr int64_t kMaxDims = 8;

/// The oldest cuDNN that compiled programs run with, as CUDNN_VERSION. 9.2.0 is the first that
/// reports the workspace of an engine configuration before a plan is built from it, which the
/// runtime needs. The runtime has the same number as `MINIMUM` of its cuDNN module.
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
  /// A second type that cuDNN takes, or none.
  AttributeType alternative;
  CountRule count;
  Need need;
  /// The kind of descriptor that the attribute holds, for AttributeType::descriptor.
  DescriptorKind element;
  int32_t since;

  bool takes(AttributeType other) const { return other == type || other == alternative; }
  bool isSettable() const { return need != Need::read_only && need != Need::reserved; }
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

/// A descriptor's attributes, in the order of the list.
llvm::ArrayRef<AttributeInfo> attributesOf(DescriptorKind kind);

/// Whether cuDNN fills descriptors of the kind, so that they are neither set nor finalized.
bool isReadOnly(DescriptorKind kind);

/// CUDNN_BACKEND_<KIND>_DESCRIPTOR.
std::string cudnnName(DescriptorKind kind);
/// CUDNN_ATTR_<NAME>.
std::string cudnnName(AttributeName name);

/// Whether a descriptor of kind `actual` may stand where `wanted` is asked for;
/// DescriptorKind::operation stands for every operation.
bool matches(DescriptorKind wanted, DescriptorKind actual);

/// "9.4.0" for 90400.
std::string versionText(int64_t version);

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, DescriptorKind kind);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, AttributeName name);

} // namespace convoy::cudnn_backend

#endif // CONVOY_DIALECT_CUDNN_BACKEND_DESCRIPTORTABLE_H
