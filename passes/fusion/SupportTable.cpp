// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Queries of the support table.

#include "passes/fusion/SupportTable.h"
#include "dialect/cudnn_backend/DescriptorTable.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/DebugStringHelper.h"
#include "passes/fusion/SupportTableNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace convoy {

static StringRef nameOf(Layout layout) { return kLayouts[static_cast<int>(layout)]; }
static StringRef nameOf(ChannelGroups groups) { return kChannelGroups[static_cast<int>(groups)]; }
static StringRef nameOf(const std::string &name) { return name; }
static std::string nameOf(int64_t number) { return std::to_string(number); }
static std::string nameOf(const SupportTable::Subject &subject) {
  return subject.role ? subject.role->name() : "anchor";
}
static std::string nameOf(const SupportTable::Sequence &sequence) {
  return llvm::join(llvm::map_range(sequence.roles, [](const Role &role) { return role.name(); }),
                    "+");
}

bool SupportTable::Refusal::matches(const SupportQuery &query, StringRef dtype,
                                    int64_t bytes) const {
  auto holds = [](const auto &list, const auto &value) {
    return list.empty() || llvm::is_contained(list, value);
  };
  return holds(anchors, query.anchor) && holds(roles, Subject{query.role}) &&
         holds(dtypes, dtype) && holds(layouts, query.layout) && holds(ranks, query.rank) &&
         holds(channelGroups, query.channelGroups) && (!channelBytes || bytes % channelBytes);
}

/// The names of `values`: "a, b or c".
template <typename T> static std::string oneOf(const std::vector<T> &values) {
  std::string text;
  for (auto [i, value] : llvm::enumerate(values))
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + std::string(nameOf(value));
  return text.empty() ? "nothing" : text;
}

std::optional<std::string> SupportTable::refuse(const SupportQuery &query) const {
  std::string dtype = debugString(query.dtype);
  Subject role{query.role};
  std::string subject =
      (query.role ? query.role->name() + " with " : "") + stringifyAnchor(query.anchor).str();
  // No row accepts a type without a width, e.g. a complex one.
  int64_t channelBytes =
      query.dtype.isIntOrFloat() ? query.channels * (query.dtype.getIntOrFloatBitWidth() / 8) : 0;
  for (const Refusal &refusal : refusals)
    if (refusal.matches(query, dtype, channelBytes))
      return subject + ": " + refusal.reason;

  // The row for this subject that matches most conditions determines the reason.
  int best = -1;
  std::string reason = ("the support table has no row for " + nameOf(role) + " with " +
                        stringifyAnchor(query.anchor))
                           .str();
  auto consider = [&](int step, const Twine &why) {
    if (step > best) {
      best = step;
      reason = (subject + ": " + why).str();
    }
  };
  Sequence after{query.after};
  for (const Row &row : rows) {
    if (!llvm::is_contained(row.anchors, query.anchor) || !llvm::is_contained(row.roles, role))
      continue;
    if (!llvm::is_contained(row.dtypes, dtype))
      consider(0, "cuDNN supports " + oneOf(row.dtypes) + ", not " + dtype);
    else if (!llvm::is_contained(row.layouts, query.layout))
      consider(1, "cuDNN supports " + oneOf(row.layouts) + ", not " + nameOf(query.layout));
    else if (!llvm::is_contained(row.ranks, query.rank))
      consider(2, "cuDNN supports rank " + oneOf(row.ranks) + ", not " + Twine(query.rank));
    else if (query.channelGroups != ChannelGroups::NotApplicable && !row.channelGroups.empty() &&
             !llvm::is_contained(row.channelGroups, query.channelGroups))
      consider(3, "cuDNN supports channel groups " + oneOf(row.channelGroups) + ", not " +
                      nameOf(query.channelGroups));
    else if (channelBytes % row.channelBytes)
      consider(4, "cuDNN supports channels that are a multiple of " + Twine(row.channelBytes) +
                      " bytes, not " + Twine(query.channels) + " of " + dtype);
    else if (!row.after.empty() && !llvm::is_contained(row.after, after))
      consider(5,
               "cuDNN supports it after " + oneOf(row.after) + ", not " +
                   (after.roles.empty() ? "directly after the anchor" : "after " + nameOf(after)));
    else if (row.tf32 && !allowTf32 && query.dtype.isF32())
      consider(6, "in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids");
    else if (row.since > cudnn_backend::kMinimumCudnn)
      consider(7, "needs cuDNN " + Twine(row.since) + ", but programs support " +
                      Twine(cudnn_backend::kMinimumCudnn) + " and later");
    else
      return std::nullopt;
  }
  return reason;
}

bool SupportTable::hasKernel(const SupportQuery &query, ArrayRef<Role> roles) const {
  return llvm::any_of(kernels, [&](const Kernel &kernel) {
    return llvm::is_contained(kernel.anchors, query.anchor) &&
           llvm::is_contained(kernel.roles, Sequence{llvm::SmallVector<Role>(roles)}) &&
           llvm::is_contained(kernel.dtypes, debugString(query.dtype)) &&
           llvm::is_contained(kernel.channelGroups, query.channelGroups) &&
           llvm::is_contained(kernel.after, Sequence{query.after}) &&
           query.layout == Layout::ChannelsLast && query.filters == 1 && query.taps <= kernel.taps;
  });
}

std::optional<std::string> SupportTable::refusePointwise(const Role &role, Type dtype,
                                                         Layout layout) const {
  // The rows are about operands of the result's shape. cuDNN 9.19 also accepts one number per
  // channel.
  if (role.extent == Extent::Gate || role.extent == Extent::Pixels || role.extent == Extent::One ||
      role.extent == Extent::Broadcast)
    return role.name() + ": without an anchor cuDNN supports operands of the result's shape "
                         "or with one number per channel";
  std::string name = debugString(dtype);
  bool strict = false;
  for (const Pointwise &row : pointwise) {
    if (!llvm::is_contained(row.modes, role.mode) || !llvm::is_contained(row.dtypes, name) ||
        !llvm::is_contained(row.layouts, layout) || row.since > cudnn_backend::kMinimumCudnn)
      continue;
    // With a scalar constant, all engines of cuDNN 9.19 use TF32.
    if ((!row.tf32 && role.extent != Extent::Scalar) || allowTf32 || !dtype.isF32())
      return std::nullopt;
    strict = true;
  }
  StringRef mode = cudnn::stringifyPointwiseMode(role.mode);
  if (strict)
    return (mode + " without an anchor: in f32 all engines of cuDNN use TF32, which "
                   "allow-tf32=false forbids")
        .str();
  return ("the support table has no row for " + mode + " without an anchor in " + nameOf(layout) +
          " " + name)
      .str();
}

std::optional<std::string> SupportTable::refuseAttention(const AttentionQuery &query) const {
  std::string dtype = debugString(query.dtype);
  std::string reason = "the support table has no row for it in " + dtype;
  int64_t multiple = query.isAligned ? 8 : 1;
  for (const Attention &row : attention) {
    auto has = [](const auto &list, const auto &value) { return llvm::is_contained(list, value); };
    bool scores = has(row.scores, "scale") && (!query.mask || has(row.scores, "bias")) &&
                  (!query.causal || has(row.scores, "causal")) &&
                  (!query.softcap || has(row.scores, "softcap")) &&
                  (!query.window || has(row.scores, "window"));
    if (!has(row.stats, "stored") || !scores || !has(row.dtypes, dtype))
      continue;
    if (!has(row.depthMultipleOf, multiple))
      reason = "cuDNN supports heads whose size is a multiple of 8";
    else if (query.depth > *llvm::max_element(row.depthUpTo))
      reason = "cuDNN supports heads of size up to " +
               std::to_string(*llvm::max_element(row.depthUpTo)) + ", not " +
               std::to_string(query.depth);
    else if (row.tf32 && !allowTf32 && query.dtype.isF32())
      reason = "in f32 all engines of cuDNN use TF32, which allow-tf32=false forbids";
    else if (row.since > cudnn_backend::kMinimumCudnn)
      reason = "needs cuDNN " + std::to_string(row.since) + ", but programs support " +
               std::to_string(cudnn_backend::kMinimumCudnn) + " and later";
    else
      return std::nullopt;
  }
  return "attention: " + reason;
}

} // namespace convoy
