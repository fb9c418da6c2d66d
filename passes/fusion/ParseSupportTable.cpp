// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads a support table from its JSON text.

#include "dialect/cudnn_backend/DescriptorTable.h"
#include "passes/fusion/SupportTable.h"
#include "passes/fusion/SupportTableNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace json = llvm::json;

namespace convoy {

static constexpr char kBuiltin[] =
#include "passes/fusion/SupportTableText.inc"
    ;

/// Reads one of `names` as an enumerator.
template <typename Enum>
static bool readName(const json::Value &value, Enum &result, json::Path path,
                     ArrayRef<StringLiteral> names, StringLiteral message) {
  std::optional<StringRef> name = value.getAsString();
  const StringLiteral *found = name ? llvm::find(names, *name) : names.end();
  if (found == names.end())
    return path.report(message), false;
  result = static_cast<Enum>(found - names.begin());
  return true;
}

static bool fromJSON(const json::Value &value, Layout &result, json::Path path) {
  return readName(value, result, path, kLayouts, "expected a layout");
}

static bool fromJSON(const json::Value &value, ChannelGroups &result, json::Path path) {
  return readName(value, result, path, kChannelGroups, "expected none, grouped or depthwise");
}

static bool fromJSON(const json::Value &value, Anchor &result, json::Path path) {
  std::optional<Anchor> anchor = parseAnchor(value.getAsString().value_or(""));
  if (!anchor)
    return path.report("expected the name of an anchor"), false;
  result = *anchor;
  return true;
}

static bool fromJSON(const json::Value &value, SupportTable::Subject &result, json::Path path) {
  StringRef name = value.getAsString().value_or("");
  result.role = parseRole(name);
  if (!result.role && name != "anchor")
    return path.report("expected 'anchor' or the name of a role"), false;
  return true;
}

static bool fromJSON(const json::Value &value, SupportTable::Sequence &result, json::Path path) {
  std::optional<StringRef> names = value.getAsString();
  if (!names)
    return path.report("expected names of roles joined by '+'"), false;
  SmallVector<StringRef> parts;
  names->split(parts, '+', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    std::optional<Role> role = parseRole(part);
    if (!role)
      return path.report("expected names of roles joined by '+'"), false;
    result.roles.push_back(*role);
  }
  return true;
}

namespace cudnn {
static bool fromJSON(const json::Value &value, PointwiseMode &result, json::Path path) {
  std::optional<PointwiseMode> mode = symbolizePointwiseMode(value.getAsString().value_or(""));
  if (!mode)
    return path.report("expected a pointwise mode"), false;
  result = *mode;
  return true;
}
} // namespace cudnn

std::optional<SupportTable> SupportTable::load(StringRef path, bool allowTf32, std::string &error) {
  auto restricted = [&](std::optional<SupportTable> table) {
    if (table)
      table->allowTf32 = allowTf32;
    return table;
  };
  if (path.empty())
    return restricted(parse(kBuiltin, "support_table.json", error));
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    error = ("cannot read the support table '" + path + "': " + file.getError().message()).str();
    return std::nullopt;
  }
  return restricted(parse((*file)->getBuffer(), path, error));
}

std::optional<SupportTable> SupportTable::parse(StringRef text, StringRef name,
                                                std::string &error) {
  auto fail = [&](const Twine &what) {
    error = ("support table '" + name + "': " + what).str();
    return std::nullopt;
  };
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  json::Path::Root root;
  json::Object *object = value->getAsObject();
  if (!object || object->getInteger("version").value_or(0) != 1)
    return fail("expected an object of version 1");
  json::Array *rows = object->getArray("rows");
  if (!rows)
    return fail("expected an array 'rows'");

  SupportTable table;
  for (auto [i, entry] : llvm::enumerate(*rows)) {
    Row row;
    json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("anchors", row.anchors) && mapper.map("roles", row.roles) &&
                mapper.map("dtypes", row.dtypes) && mapper.map("layouts", row.layouts) &&
                mapper.map("ranks", row.ranks) &&
                mapper.mapOptional("channel_groups", row.channelGroups) &&
                mapper.mapOptional("channel_bytes", row.channelBytes) &&
                mapper.mapOptional("tf32", row.tf32) && mapper.mapOptional("after", row.after) &&
                mapper.map("since", row.since) && mapper.map("note", row.note);
    if (!read)
      return fail("row " + Twine(i) + ": " + llvm::toString(root.getError()));
    if (row.channelBytes < 1)
      return fail("row " + Twine(i) + ": expected a positive 'channel_bytes', but got " +
                  Twine(row.channelBytes));
    table.rows.push_back(std::move(row));
  }
  json::Array none, *refusals = object->getArray("refusals");
  for (auto [i, entry] : llvm::enumerate(refusals ? *refusals : none)) {
    Refusal refusal;
    json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("anchors", refusal.anchors) &&
                mapper.mapOptional("roles", refusal.roles) &&
                mapper.mapOptional("dtypes", refusal.dtypes) &&
                mapper.mapOptional("layouts", refusal.layouts) &&
                mapper.mapOptional("ranks", refusal.ranks) &&
                mapper.mapOptional("channel_groups", refusal.channelGroups) &&
                mapper.mapOptional("channel_bytes", refusal.channelBytes) &&
                mapper.map("reason", refusal.reason);
    if (!read)
      return fail("refusal " + Twine(i) + ": " + llvm::toString(root.getError()));
    table.refusals.push_back(std::move(refusal));
  }
  json::Array *kernels = object->getArray("kernels");
  for (auto [i, entry] : llvm::enumerate(kernels ? *kernels : none)) {
    Kernel kernel;
    json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("anchors", kernel.anchors) &&
                mapper.map("roles", kernel.roles) && mapper.map("dtypes", kernel.dtypes) &&
                mapper.map("channel_groups", kernel.channelGroups) &&
                mapper.map("taps", kernel.taps) && mapper.map("after", kernel.after) &&
                mapper.map("note", kernel.note);
    if (!read)
      return fail("kernel " + Twine(i) + ": " + llvm::toString(root.getError()));
    table.kernels.push_back(std::move(kernel));
  }
  json::Array *operations = object->getArray("operations");
  for (auto [i, entry] : llvm::enumerate(operations ? *operations : none)) {
    std::string operation;
    bool takes = false;
    Pointwise row;
    Attention attention;
    json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("operation", operation) && mapper.map("takes", takes);
    if (read && operation == "pointwise")
      read = mapper.map("modes", row.modes) && mapper.map("dtypes", row.dtypes) &&
             mapper.map("layouts", row.layouts) && mapper.map("since", row.since) &&
             mapper.mapOptional("tf32", row.tf32);
    if (read && operation == "attention_parts")
      read = mapper.map("dtypes", attention.dtypes) && mapper.map("stats", attention.stats) &&
             mapper.map("scores", attention.scores) &&
             mapper.map("depth_multiple_of", attention.depthMultipleOf) &&
             mapper.map("depth_up_to", attention.depthUpTo) &&
             mapper.map("since", attention.since) && mapper.mapOptional("tf32", attention.tf32);
    if (!read)
      return fail("operation " + Twine(i) + ": " + llvm::toString(root.getError()));
    if (operation == "pointwise" && takes)
      table.pointwise.push_back(std::move(row));
    if (operation == "attention_parts" && takes)
      table.attention.push_back(std::move(attention));
  }
  return table;
}

} // namespace convoy
