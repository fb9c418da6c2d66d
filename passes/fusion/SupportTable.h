// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The graphs that cuDNN, or only a kernel of Convoy, supports, as rows of support_table.json. The
// table is built in and can be replaced by a file. Grouping, the verification of groups,
// alternatives and the reasons that users see are based on it.

#ifndef CONVOY_PASSES_FUSION_SUPPORTTABLE_H
#define CONVOY_PASSES_FUSION_SUPPORTTABLE_H

#include "passes/fusion/Roles.h"
#include <vector>

namespace convoy {

/// The memory layout of an anchor's tensors.
enum class Layout { ChannelsLast, ChannelsFirst, RowMajor };

/// The channel groups of a convolution. Other anchors have none.
enum class ChannelGroups { NotApplicable, None, Grouped, Depthwise };

/// A query about an anchor, or about one role with it.
struct SupportQuery {
  Anchor anchor = Anchor::Conv2d;
  std::optional<Role> role; ///< absent: the anchor itself
  mlir::Type dtype;         ///< of the anchor's operands
  Layout layout = Layout::ChannelsLast;
  int64_t rank = 0; ///< of the anchor's operands in the graph
  ChannelGroups channelGroups = ChannelGroups::NotApplicable;
  int64_t channels = 0;          ///< input channels of one group, or K of a matrix product
  int64_t taps = 0;              ///< pixels of a convolution's filter
  int64_t filters = 0;           ///< output channels of one group of a convolution
  llvm::SmallVector<Role> after; ///< roles between the anchor and this one, in order
};

/// A query about attention.
struct AttentionQuery {
  mlir::Type dtype;      ///< of the operands
  int64_t depth = 0;     ///< the larger one of the last dims of the query and of the value
  bool isAligned = true; ///< whether both are multiples of 8
  bool mask = false, causal = false, softcap = false, window = false;
};

class SupportTable {
public:
  /// Loads the built-in table, or the file `path` if it is not empty. Without `allowTf32`, rows
  /// whose engines all round f32 to TF32 do not accept f32. On failure `error` has the reason.
  static std::optional<SupportTable> load(llvm::StringRef path, bool allowTf32, std::string &error);

  /// Returns std::nullopt if a row accepts the query and no refusal matches it, else the reason.
  std::optional<std::string> refuse(const SupportQuery &query) const;

  /// Whether a kernel of Convoy computes `roles`, one or those of one function, after those of
  /// `query`, although cuDNN has no engine for them.
  bool hasKernel(const SupportQuery &query, llvm::ArrayRef<Role> roles) const;

  /// Like `refuse`, for a pointwise operation in a graph without an anchor.
  std::optional<std::string> refusePointwise(const Role &role, mlir::Type dtype,
                                             Layout layout) const;

  /// Like `refuse`, for attention with its logarithms of sums as a result.
  std::optional<std::string> refuseAttention(const AttentionQuery &query) const;

  /// The anchor itself, or a role with it.
  struct Subject {
    std::optional<Role> role;
    bool operator==(const Subject &other) const { return role == other.role; }
  };
  /// Roles between an anchor and a role.
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
    int64_t since = 0;        ///< first cuDNN version, as in CUDNN_VERSION
    bool tf32 = false;        ///< in f32, every engine uses TF32
    /// The roles that may be between anchor and role; empty: all.
    std::vector<Sequence> after;
    std::string note;
  };
  /// Graphs that are refused even if a row accepts them. An empty list matches all values.
  struct Refusal {
    std::vector<Anchor> anchors;
    std::vector<Subject> roles;
    std::vector<std::string> dtypes;
    std::vector<Layout> layouts;
    std::vector<ChannelGroups> channelGroups;
    std::vector<int64_t> ranks;
    /// Matches if the bytes of the channels are not a multiple of this; 0: always.
    int64_t channelBytes = 0;
    std::string reason;

    bool matches(const SupportQuery &query, llvm::StringRef dtype, int64_t channelBytes) const;
  };
  /// Roles that kernels of Convoy compute for depthwise convolutions with one filter per channel,
  /// although `refuse` has a reason.
  struct Kernel {
    std::vector<Anchor> anchors;
    std::vector<Sequence> roles;
    std::vector<std::string> dtypes;
    std::vector<ChannelGroups> channelGroups;
    int64_t taps = 0; ///< the most pixels of a filter
    std::vector<Sequence> after;
    std::string note;
  };
  /// Pointwise operations that cuDNN accepts without an anchor.
  struct Pointwise {
    std::vector<cudnn::PointwiseMode> modes;
    std::vector<std::string> dtypes;
    std::vector<Layout> layouts;
    int64_t since = 0;
    bool tf32 = false;
  };
  /// Attention that cuDNN accepts, composed of other operations.
  struct Attention {
    std::vector<std::string> dtypes, stats, scores;
    std::vector<int64_t> depthMultipleOf, depthUpTo;
    int64_t since = 0;
    bool tf32 = false;
  };
  static std::optional<SupportTable> parse(llvm::StringRef text, llvm::StringRef name,
                                           std::string &error);

  std::vector<Row> rows;
  std::vector<Refusal> refusals;
  std::vector<Kernel> kernels;
  std::vector<Pointwise> pointwise;
  std::vector<Attention> attention;
  bool allowTf32 = true;
};

} // namespace convoy

#endif // CONVOY_PASSES_FUSION_SUPPORTTABLE_H
