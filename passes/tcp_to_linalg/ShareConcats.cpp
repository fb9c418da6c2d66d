// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gives concats on the CPU that contain the inputs of an earlier one, as in a dense block, one
// tensor, into which each inserts its new inputs. Otherwise n layers copy n * n inputs.

#include "dialect/tcp/TcpOps.h"
#include "dialect/tcp/TcpShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/tcp_to_linalg/LinalgUtils.h"

namespace convoy {
#define GEN_PASS_DEF_TCPSHARECONCATSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

struct TcpShareConcatsPass : public convoy::impl::TcpShareConcatsPassBase<TcpShareConcatsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// A concat, of which the inputs `first` to `first + count - 1` are those of the link before it, or
/// that link's result. The first link of a chain has `count` 0.
struct Link {
  ConcatOp op;
  size_t first = 0, count = 0;
};

/// Concats along the same dim, in the order of their block.
using Chain = SmallVector<Link, 1>;

/// The chains of a block.
class Chains {
public:
  void add(ConcatOp op);
  SmallVector<Chain> chains;

private:
  /// Indices of the chains whose last concat has, or had, a value as its first input or result.
  DenseMap<Value, SmallVector<size_t, 1>> byValue;
};

} // namespace

/// Whether every op that reads `value`, or a view of it, is `op` or before it in its block. A later
/// read would need a copy of `value`.
static bool isReadBefore(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && (user == op || ancestor->isBeforeInBlock(op)) &&
           (!isa<ReshapeOp, SliceOp>(user) || isReadBefore(user->getResult(0), op));
  });
}

void Chains::add(ConcatOp op) {
  OperandRange inputs = op.getInputs();
  Chain *best = nullptr;
  Link link{op};
  for (auto [first, input] : llvm::enumerate(inputs))
    for (size_t index : byValue.lookup(input)) {
      ConcatOp last = chains[index].back().op;
      size_t count = input == last.getOutput() ? 1 : last.getInputs().size();
      bool contains =
          input == last.getOutput() || (first + count <= inputs.size() &&
                                        llvm::equal(inputs.slice(first, count), last.getInputs()));
      if (contains && count > link.count && last.getDim() == op.getDim() &&
          isReadBefore(last.getOutput(), op)) {
        best = &chains[index];
        link = {op, first, count};
      }
    }
  if (!best)
    best = &chains.emplace_back();
  best->push_back(link);
  size_t index = best - chains.begin();
  for (Value value : {inputs.front(), Value(op.getOutput())})
    if (SmallVector<size_t, 1> &indices = byValue[value]; !llvm::is_contained(indices, index))
      indices.push_back(index);
}

/// The number of elements of `inputs` along `dim`.
static int64_t sizeOf(ValueRange inputs, int64_t dim) {
  int64_t size = 0;
  for (Value input : inputs)
    size += shapeOf(input)[dim];
  return size;
}

static void share(Chain &chain) {
  ConcatOp last = chain.back().op;
  int64_t dim = last.getDim();
  // Where the elements of each concat begin in those of the last.
  SmallVector<int64_t> begins(chain.size(), 0);
  for (size_t i = chain.size() - 1; i-- > 0;)
    begins[i] =
        begins[i + 1] + sizeOf(chain[i + 1].op.getInputs().take_front(chain[i + 1].first), dim);

  OpBuilder builder(chain.front().op);
  auto type = cast<RankedTensorType>(last.getOutput().getType());
  Value whole =
      tensor::EmptyOp::create(builder, last.getLoc(), type.getShape(), type.getElementType());
  for (auto [link, begin] : llvm::zip_equal(chain, begins)) {
    ConcatOp op = link.op;
    builder.setInsertionPoint(op);
    int64_t offset = begin;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (i < link.first || i >= link.first + link.count)
        whole = insertAlong(builder, op.getLoc(), input, whole, dim, offset);
      offset += shapeOf(input)[dim];
    }
    Value result = whole;
    if (op != last) {
      SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
          strides(type.getRank(), builder.getIndexAttr(1));
      offsets[dim] = builder.getIndexAttr(begin);
      result = tensor::ExtractSliceOp::create(
          builder, op.getLoc(), whole, offsets,
          getAsIndexOpFoldResult(builder.getContext(), shapeOf(op.getOutput())), strides);
    }
    op.getOutput().replaceAllUsesWith(result);
  }
  for (Link &link : llvm::reverse(chain))
    link.op->erase();
}

void TcpShareConcatsPass::runOnStaticShapes() {
  getOperation().walk([&](Block *block) {
    Chains found;
    for (auto op : block->getOps<ConcatOp>())
      if (!isCuda(op))
        found.add(op);
    for (Chain &chain : found.chains)
      if (chain.size() > 1)
        share(chain);
  });
}
