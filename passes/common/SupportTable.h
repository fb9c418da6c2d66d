// What cuDNN takes, as data: rows of support_table.json, which is built in and can be replaced by a
// file. The former of groups, the check of groups and the reasons that a user reads all ask this
// one table.

#ifndef CONVOY_PASSES_COMMON_SUPPORTTABLE_H
#define CONVOY_PASSES_COMMON_SUPPORTTABLE_H

#include "mlir/IR/Types.h"
#include <optional>
#include <string>
#include <vector>

namespace convoy {

/// One op of a group, as the table sees it.
struct SupportQuery {
  llvm::StringRef anchor; ///< conv1d, conv2d, conv3d, matmul, max_pool, avg_pool or mean
  llvm::StringRef
      role; ///< "anchor", or what the op does for the anchor: bias, relu, prologue_relu, ...
  mlir::Type dtype;              ///< of the anchor's operands
  llvm::StringRef layout;        ///< channels_last, channels_first or row_major
  int64_t rank = 0;              ///< of the anchor's operands
  llvm::StringRef channelGroups; ///< none, grouped or depthwise; empty for anchors without
  int64_t channels = 0;          ///< input channels of one group, or K of a matrix product
  std::string after;             ///< for what follows the anchor: the roles between, joined by '+'
};

class SupportTable {
public:
  /// The built-in table, or that of the file `path` when it is not empty. Without `allowTf32`, rows
  /// whose engines all round f32 to TF32 do not take f32. On failure says why in `error`.
  static std::optional<SupportTable> load(llvm::StringRef path, bool allowTf32, std::string &error);

  /// Nothing when a row accepts and nothing is said against it, else the reason in words: what was
  /// expected, what came.
  std::optional<std::string> refuse(const SupportQuery &query) const;

  /// The same of a pointwise operation in a graph that has no others; `mode` is cuDNN's name of it,
  /// as relu_fwd.
  std::optional<std::string> refusePointwise(llvm::StringRef mode, mlir::Type dtype,
                                             llvm::StringRef layout) const;

private:
  struct Row {
    std::vector<std::string> anchors, roles, dtypes, layouts, channelGroups;
    std::vector<int64_t> ranks;
    int64_t channelBytes = 1; ///< bytes of the channels of a group are a multiple of this
    int64_t since = 0;        ///< first cuDNN version, as CUDNN_VERSION counts
    bool tf32 = false;        ///< in f32, every engine uses TF32
    std::vector<std::string>
        after; ///< what may stand between anchor and role, when not everything may
    std::string note;
  };
  /// Graphs that are not made although a row may take them, and why. An empty list is all.
  struct Refusal {
    std::vector<std::string> anchors, roles, dtypes, layouts, channelGroups;
    std::vector<int64_t> ranks;
    int64_t channelBytes =
        0; ///< holds where bytes of the channels are no multiple of this; 0: everywhere
    std::string reason;

    bool matches(const SupportQuery &query, llvm::StringRef dtype, int64_t channelBytes) const;
  };

  /// Pointwise operations alone that are taken.
  struct Pointwise {
    std::vector<std::string> modes, dtypes, layouts;
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

#endif // CONVOY_PASSES_COMMON_SUPPORTTABLE_H
