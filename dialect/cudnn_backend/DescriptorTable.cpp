// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tables of DescriptorTable.h.

#include "dialect/cudnn_backend/DescriptorTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace convoy::cudnn_backend {

static constexpr DescriptorInfo kDescriptors[] = {
#define BACKEND_DESCRIPTOR(kind, number, since) {DescriptorKind::kind, #kind, since},
#include "dialect/cudnn_backend/Descriptors.def"
};

static constexpr AttributeInfo kAttributes[] = {
#define BACKEND_ATTRIBUTE(kind, name, number, type, alternative, count, need, initial, element,    \
                          since)                                                                   \
  {DescriptorKind::kind, AttributeName::name,        #name,                                        \
   AttributeType::type,  AttributeType::alternative, CountRule::count,                             \
   Need::need,           DescriptorKind::element,    since},
#include "dialect/cudnn_backend/Descriptors.def"
};

static constexpr TypeInfo kTypes[] = {
#define BACKEND_TYPE(name, cname, number, ctype, bytes) {AttributeType::name, #name, #cname, bytes},
#include "dialect/cudnn_backend/Descriptors.def"
};

static constexpr EnumeratorInfo kEnumerators[] = {
#define BACKEND_ENUM(type, name, cname, number, since)                                             \
  {AttributeType::type, #name, #cname, number, since},
#include "dialect/cudnn_backend/Descriptors.def"
};

const DescriptorInfo &get(DescriptorKind kind) {
  const DescriptorInfo *found =
      find_if(kDescriptors, [&](const DescriptorInfo &it) { return it.kind == kind; });
  assert(found != std::end(kDescriptors) && "a sentinel is not a descriptor");
  return *found;
}

const AttributeInfo &get(AttributeName name) {
  return *find_if(kAttributes, [&](const AttributeInfo &it) { return it.name == name; });
}

const TypeInfo &get(AttributeType type) {
  const TypeInfo *found = find_if(kTypes, [&](const TypeInfo &it) { return it.type == type; });
  assert(found != std::end(kTypes) && "a sentinel is not a type");
  return *found;
}

std::optional<DescriptorKind> lookupDescriptor(StringRef name) {
  for (const DescriptorInfo &it : kDescriptors)
    if (it.name == name)
      return it.kind;
  return std::nullopt;
}

std::optional<AttributeName> lookupAttribute(StringRef name) {
  for (const AttributeInfo &it : kAttributes)
    if (it.text == name)
      return it.name;
  return std::nullopt;
}

const EnumeratorInfo *lookupEnumerator(AttributeType type, StringRef name) {
  for (const EnumeratorInfo &it : kEnumerators)
    if (it.type == type && it.name == name)
      return &it;
  return nullptr;
}

bool isReadOnly(DescriptorKind kind) {
  return all_of(attributesOf(kind),
                [](const AttributeInfo &it) { return it.need == Need::read_only; });
}

bool hasEnumerators(AttributeType type) {
  return any_of(kEnumerators, [&](const EnumeratorInfo &it) { return it.type == type; });
}

ArrayRef<AttributeInfo> attributesOf(DescriptorKind kind) {
  const AttributeInfo *first =
      find_if(kAttributes, [&](const AttributeInfo &it) { return it.kind == kind; });
  const AttributeInfo *last = first;
  while (last != std::end(kAttributes) && last->kind == kind)
    ++last;
  return ArrayRef(first, last);
}

std::string cudnnName(DescriptorKind kind) {
  return "CUDNN_BACKEND_" + get(kind).name.upper() + "_DESCRIPTOR";
}

std::string cudnnName(AttributeName name) { return "CUDNN_ATTR_" + get(name).text.upper(); }

bool matches(DescriptorKind wanted, DescriptorKind actual) {
  return wanted == actual ||
         (wanted == DescriptorKind::operation && get(actual).name.starts_with("operation_"));
}

std::string versionText(int64_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

raw_ostream &operator<<(raw_ostream &os, DescriptorKind kind) {
  return os << (kind == DescriptorKind::operation ? StringRef("operation")
                                                  : StringRef(get(kind).name));
}

raw_ostream &operator<<(raw_ostream &os, AttributeName name) { return os << get(name).text; }

} // namespace convoy::cudnn_backend
