// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loop over the steps of a recurrent network, which one kernel of the artifact computes. As
// separate kernels, each step has several that are shorter than the time between two kernels, and
// reads the weights again.

#ifndef CONVOY_PASSES_COMMON_RECURRENT_H
#define CONVOY_PASSES_COMMON_RECURRENT_H

#include "dialect/tcp/TcpOps.h"
#include <optional>
#include <string>

namespace convoy {

/// The anchor of a group that is a recurrent layer.
inline constexpr llvm::StringLiteral kRecurrentAnchor = "recurrent";

/// One direction of a layer.
struct Recurrent {
  tcp::ScanOp scan;
  /// `lstm`, `gru`, `rnn_tanh` or `rnn_relu`: the modes of cudnn.recurrent.
  llvm::StringRef mode;
  /// Operands of the scan: the products of the inputs, and the weights of the state.
  mlir::Value given, weights;
  /// Operands of the scan: the bias of a GRU's new gate, and the initial state. Null if there is
  /// none, and if it is zero.
  mlir::Value bias, hidden, cell;
  /// The results of the scan with the last state; the cell's is null unless the mode is `lstm`.
  mlir::OpResult lastHidden, lastCell;
};

/// Matches a scan whose body is a step of an LSTM, a GRU or an RNN, as torch.nn has them without
/// projection, where
/// * all tensors are of f32, f16 or bf16, and rows of the state are a multiple of 16 bytes;
/// * there are at least two steps;
/// * the only stacked output, if any, is the hidden state;
/// * reading the weights once for eight sequences in each step is little traffic.
/// Returns std::nullopt with the reason in `reason` otherwise.
std::optional<Recurrent> matchRecurrent(tcp::ScanOp scan, std::string &reason);

/// Matches the scan in the body of `group`, which has no other op but constants. Its stacked
/// output, and the last cell of an LSTM, are the results.
std::optional<Recurrent> matchRecurrentGroup(tcp::IsolatedGroupOp group, std::string &reason);

} // namespace convoy

#endif // CONVOY_PASSES_COMMON_RECURRENT_H
