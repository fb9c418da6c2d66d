// What cuDNN accepts, as data: rows of support_table.json, which is built in and can be replaced by
// a file. Grouping, the verification of groups, alternatives and the reasons that a user reads all
// come from this one table.

#ifndef CONVOY_PASSES_FUSION_SUPPORTTABLE_H
#define CONVOY_PASSES_FUSION_SUPPORTTABLE_H

#include "passes/fusion/Roles.h"
#include <vector>

namespace convoy {

/// How the tensors of an anchor lie in memory.
enum class Layout { ChannelsLast, ChannelsFirst, RowMajor };

/// The groups of channels of a convolution; other anchors have none.
enum class ChannelGroups { NotApplicable, None, Grouped, Depthwise };

/// One question: an anchor, or one role beside it.
struct SupportQuery {
  Anchor anchor = Anchor::Conv2d;
  std::optional<Role> role; ///< nothing: the anchor itself
  mlir::Type dtype;         ///< of the anchor's operands
  Layout layout = Layout::ChannelsLast;
  int64_t rank = 0; ///< of the anchor's operands in the graph
  ChannelGroups channelGroups = ChannelGroups::NotApplicable;
  int64_t channels = 0;          ///< input channels of one group, or K of a matrix product
  llvm::SmallVector<Role> after; ///< roles between the anchor and this one, in order
};

class SupportTable {
public:
  /// The built-in table, or that of the file `path` when it is not empty. Without `allowTf32`, rows
  /// whose engines all round f32 to TF32 do not take f32. On failure says why in `error`.
  static std::optional<SupportTable> load(llvm::StringRef path, bool allowTf32, std::string &error);

  /// Nothing when a row accepts and no refusal matches, else the reason: what is accepted, and what
  /// came.
  std::optional<std::string> refuse(const SupportQuery &query) const;

  /// The same for a pointwise operation in a graph without an anchor.
  std::optional<std::string> refusePointwise(const Role &role, mlir::Type dtype,
                                             Layout layout) const;

  /// The anchor itself, or a role beside it.
  struct Subject {
    std::optional<Role> role;
    bool operator==(const Subject &other) const { return role == other.role; }
  };
  /// What may be between an anchor and a role.
  struct Sequence {
    llvm::SmallVector<Role> roles;
    bool operator==(const Sequence &other) const { return roles == other.roles; }
  };

private:
  struct Row {
    std::vector<Anchor> anchors;
    std::vector<Subject> roles;
    std::vector<std::string> dtypes;
    std::vector<Layout> layouts;
    std::vector<ChannelGroups> channelGroups; ///< empty: all
    std::vector<int64_t> ranks;
    int64_t channelBytes = 1; ///< bytes of the channels of a group are a multiple of this
    int64_t since = 0;        ///< first cuDNN version, as CUDNN_VERSION counts
    bool tf32 = false;        ///< in f32, every engine uses TF32
    /// What may be between anchor and role; empty: everything.
    std::vector<Sequence> after;
    std::string note;
  };
  /// Graphs that are not formed although a row may accept them, and why. An empty list matches all.
  struct Refusal {
    std::vector<Anchor> anchors;
    std::vector<Subject> roles;
    std::vector<std::string> dtypes;
    std::vector<Layout> layouts;
    std::vector<ChannelGroups> channelGroups;
    std::vector<int64_t> ranks;
    /// It matches where the bytes of the channels are not a multiple of this; 0: everywhere.
    int64_t channelBytes = 0;
    std::string reason;

    bool matches(const SupportQuery &query, llvm::StringRef dtype, int64_t channelBytes) const;
  };
  /// Pointwise operations alone that cuDNN accepts.
  struct Pointwise {
    std::vector<cudnn::PointwiseMode> modes;
    std::vector<std::string> dtypes;
    std::vector<Layout> layouts;
    int64_t since = 0;
    bool tf32 = false;
  };
  static std::optional<SupportTable> parse(llvm::StringRef text, llvm::StringRef name,
                                           std::string &error);

  std::vector<Row> rows;
  std::vector<Refusal> refusals;
  std::vector<Pointwise> pointwise;
  bool allowTf32 = true;
};

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_SUPPORTTABLE_H
