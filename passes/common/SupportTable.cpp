#include "passes/common/SupportTable.h"
#include "dialect/cudnn_backend/DescriptorTable.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace convoy {

static constexpr char kBuiltin[] =
#include "passes/common/SupportTableText.inc"
    ;

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
  auto fail = [&](const llvm::Twine &what) {
    error = ("support table '" + name + "': " + what).str();
    return std::nullopt;
  };
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  llvm::json::Path::Root root;
  llvm::json::Object *object = value->getAsObject();
  if (!object || object->getInteger("version").value_or(0) != 1)
    return fail("expected an object of version 1");
  llvm::json::Array *rows = object->getArray("rows");
  if (!rows)
    return fail("expected an array 'rows'");

  SupportTable table;
  for (auto [i, entry] : llvm::enumerate(*rows)) {
    Row row;
    llvm::json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("anchors", row.anchors) && mapper.map("roles", row.roles) &&
                mapper.map("dtypes", row.dtypes) && mapper.map("layouts", row.layouts) &&
                mapper.map("ranks", row.ranks) &&
                mapper.mapOptional("channel_groups", row.channelGroups) &&
                mapper.mapOptional("channel_bytes", row.channelBytes) &&
                mapper.mapOptional("tf32", row.tf32) && mapper.mapOptional("after", row.after) &&
                mapper.map("since", row.since) && mapper.map("note", row.note);
    if (!read)
      return fail("row " + llvm::Twine(i) + ": " + llvm::toString(root.getError()));
    if (row.channelBytes < 1)
      return fail("row " + llvm::Twine(i) + ": expected a positive 'channel_bytes', but got " +
                  llvm::Twine(row.channelBytes));
    table.rows.push_back(std::move(row));
  }
  llvm::json::Array none, *refusals = object->getArray("refusals");
  for (auto [i, entry] : llvm::enumerate(refusals ? *refusals : none)) {
    Refusal refusal;
    llvm::json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("anchors", refusal.anchors) &&
                mapper.mapOptional("roles", refusal.roles) &&
                mapper.mapOptional("dtypes", refusal.dtypes) &&
                mapper.mapOptional("layouts", refusal.layouts) &&
                mapper.mapOptional("ranks", refusal.ranks) &&
                mapper.mapOptional("channel_groups", refusal.channelGroups) &&
                mapper.mapOptional("channel_bytes", refusal.channelBytes) &&
                mapper.map("reason", refusal.reason);
    if (!read)
      return fail("refusal " + llvm::Twine(i) + ": " + llvm::toString(root.getError()));
    table.refusals.push_back(std::move(refusal));
  }
  llvm::json::Array *operations = object->getArray("operations");
  for (auto [i, entry] : llvm::enumerate(operations ? *operations : none)) {
    std::string operation;
    bool takes = false;
    Pointwise row;
    llvm::json::ObjectMapper mapper(entry, root);
    bool read = mapper && mapper.map("operation", operation) && mapper.map("takes", takes);
    if (read && operation == "pointwise")
      read = mapper.map("modes", row.modes) && mapper.map("dtypes", row.dtypes) &&
             mapper.map("layouts", row.layouts) && mapper.map("since", row.since) &&
             mapper.mapOptional("tf32", row.tf32);
    if (!read)
      return fail("operation " + llvm::Twine(i) + ": " + llvm::toString(root.getError()));
    if (operation == "pointwise" && takes)
      table.pointwise.push_back(std::move(row));
  }
  return table;
}

bool SupportTable::Refusal::matches(const SupportQuery &query, StringRef dtype,
                                    int64_t bytes) const {
  auto holds = [](const auto &list, const auto &value) {
    return list.empty() || llvm::is_contained(list, value);
  };
  return holds(anchors, query.anchor) && holds(roles, query.role) && holds(dtypes, dtype) &&
         holds(layouts, query.layout) && holds(ranks, query.rank) &&
         holds(channelGroups, query.channelGroups) && (!channelBytes || bytes % channelBytes);
}

static std::string oneOf(llvm::ArrayRef<std::string> names) {
  std::string text = names.empty() ? "nothing" : names.front();
  for (size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::optional<std::string> SupportTable::refuse(const SupportQuery &query) const {
  std::string dtype;
  llvm::raw_string_ostream(dtype) << query.dtype;
  // The refusal that got furthest through the conditions tells most.
  int best = -1;
  std::string reason =
      ("the support table has no row for " + query.role + " with " + query.anchor).str();
  auto consider = [&](int step, const llvm::Twine &why) {
    if (step > best) {
      best = step;
      reason = why.str();
    }
  };
  std::string subject =
      query.role == "anchor" ? query.anchor.str() : (query.role + " with " + query.anchor).str();
  // No row takes a type without a width, as a complex one.
  int64_t channelBytes =
      query.dtype.isIntOrFloat() ? query.channels * (query.dtype.getIntOrFloatBitWidth() / 8) : 0;
  for (const Refusal &refusal : refusals)
    if (refusal.matches(query, dtype, channelBytes))
      return subject + ": " + refusal.reason;
  for (const Row &row : rows) {
    if (!llvm::is_contained(row.anchors, query.anchor) ||
        !llvm::is_contained(row.roles, query.role))
      continue;
    if (!llvm::is_contained(row.dtypes, dtype))
      consider(0, subject + ": cuDNN takes " + oneOf(row.dtypes) + ", not " + dtype);
    else if (!llvm::is_contained(row.layouts, query.layout))
      consider(1, subject + ": cuDNN takes " + oneOf(row.layouts) + ", not " + query.layout);
    else if (!llvm::is_contained(row.ranks, query.rank)) {
      std::vector<std::string> ranks;
      for (int64_t rank : row.ranks)
        ranks.push_back(std::to_string(rank));
      consider(2,
               subject + ": cuDNN takes rank " + oneOf(ranks) + ", not " + llvm::Twine(query.rank));
    } else if (!query.channelGroups.empty() && !row.channelGroups.empty() &&
               !llvm::is_contained(row.channelGroups, query.channelGroups))
      consider(3, subject + ": cuDNN takes groups of channels " + oneOf(row.channelGroups) +
                      ", not " + query.channelGroups);
    else if (channelBytes % row.channelBytes)
      consider(4, subject + ": cuDNN takes channels of a multiple of " +
                      llvm::Twine(row.channelBytes) + " bytes, not " + llvm::Twine(query.channels) +
                      " of " + dtype);
    else if (!row.after.empty() && !llvm::is_contained(row.after, query.after))
      consider(5, subject + ": cuDNN takes it after " + oneOf(row.after) + ", not " +
                      (query.after.empty() ? "after the anchor" : "after " + query.after));
    else if (row.tf32 && !allowTf32 && dtype == "f32")
      consider(6, subject +
                      ": in f32 every engine of cuDNN uses TF32, which allow-tf32=false forbids");
    else if (row.since > cudnn_backend::kMinimumCudnn)
      consider(7, subject + ": needs cuDNN " + llvm::Twine(row.since) + ", programs run with " +
                      llvm::Twine(cudnn_backend::kMinimumCudnn) + " and later");
    else
      return std::nullopt;
  }
  return reason;
}

std::optional<std::string> SupportTable::refusePointwise(StringRef mode, Type dtype,
                                                         StringRef layout) const {
  std::string name;
  llvm::raw_string_ostream(name) << dtype;
  bool strict = false;
  for (const Pointwise &row : pointwise) {
    if (!llvm::is_contained(row.modes, mode) || !llvm::is_contained(row.dtypes, name) ||
        !llvm::is_contained(row.layouts, layout) || row.since > cudnn_backend::kMinimumCudnn)
      continue;
    if (!row.tf32 || allowTf32 || name != "f32")
      return std::nullopt;
    strict = true;
  }
  if (strict)
    return (mode + " alone: in f32 every engine of cuDNN uses TF32, which allow-tf32=false forbids")
        .str();
  return ("the support table takes no " + mode + " alone in " + layout + " " + name).str();
}

} // namespace convoy
