// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/fusion/StridedView.h"
#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace convoy {

bool isView(Operation *op) { return isa<tcp::TransposeOp, tcp::SliceOp, tcp::ReshapeOp>(op); }

/// The strides of a tensor of `from` and `strides` after a reshape to `to`, or std::nullopt if the
/// reshape would copy. Neither shape is empty.
static std::optional<SmallVector<int64_t>>
reshaped(ArrayRef<int64_t> from, ArrayRef<int64_t> strides, ArrayRef<int64_t> to) {
  // Runs of dims that are contiguous in memory, each with the stride of its last dim.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (auto [size, stride] : llvm::reverse(llvm::zip_equal(from, strides))) {
    if (size == 1)
      continue;
    if (!runs.empty() && stride == runs.back().first * runs.back().second)
      runs.back().first *= size;
    else
      runs.emplace_back(size, stride);
  }
  // Each run must be a product of dims of `to`.
  SmallVector<int64_t> result(to.size(), 1);
  auto dim = static_cast<int64_t>(to.size()) - 1;
  for (auto [size, stride] : runs) {
    int64_t covered = 1;
    for (; dim >= 0 && (covered < size || to[dim] == 1); --dim) {
      result[dim] = covered * stride;
      covered *= to[dim];
    }
    if (covered != size)
      return std::nullopt;
  }
  return result;
}

/// The result of `op`, which reads `input`, as a view of the base of `input`.
static std::optional<StridedView> viewThrough(Operation *op, StridedView input) {
  auto with = [&](SmallVector<int64_t> strides) {
    input.strides = std::move(strides);
    input.ops.push_back(op);
    return std::move(input);
  };
  return llvm::TypeSwitch<Operation *, std::optional<StridedView>>(op)
      .Case([&](tcp::TransposeOp transpose) {
        return with(llvm::map_to_vector(transpose.getPerm(),
                                        [&](int64_t dim) { return input.strides[dim]; }));
      })
      .Case([&](tcp::SliceOp slice) {
        SmallVector<int64_t> strides = input.strides;
        for (auto [i, start, step] : llvm::enumerate(slice.getStarts(), slice.getStrides())) {
          input.offset += start * strides[i];
          strides[i] *= step;
        }
        return with(std::move(strides));
      })
      .Case([&](tcp::ReshapeOp reshape) -> std::optional<StridedView> {
        auto strides = reshaped(tcp::shapeOf(reshape.getInput()), input.strides,
                                tcp::shapeOf(reshape.getOutput()));
        if (!strides)
          return std::nullopt;
        return with(std::move(*strides));
      })
      .Default([](Operation *) { return std::nullopt; });
}

StridedView stridedViewOf(Value value, llvm::function_ref<bool(Operation *)> isIncluded) {
  Operation *op = value.getDefiningOp();
  if (op && isView(op) && isIncluded(op))
    if (auto view = viewThrough(op, stridedViewOf(op->getOperand(0), isIncluded)))
      return std::move(*view);
  return {value, 0, computeStrides(tcp::shapeOf(value)), {}};
}

} // namespace convoy
