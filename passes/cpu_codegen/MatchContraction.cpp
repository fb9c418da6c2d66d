// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu_codegen/MatchContraction.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/common/InputRows.h"
#include "passes/cpu_codegen/ContractionEpilogue.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace convoy {
namespace {

bool isF32(Value value) { return cast<MemRefType>(value.getType()).getElementType().isF32(); }

/// Removes loops with one trip, and merges a loop with the next one if their elements are
/// contiguous.
void simplify(SmallVectorImpl<ReductionLoop> &loops) {
  SmallVector<ReductionLoop> result;
  for (const ReductionLoop &inner : loops) {
    if (inner.trips == 1)
      continue;
    if (!result.empty() && !result.back().isRows && !inner.isRows &&
        result.back().inputStep == inner.trips * inner.inputStep &&
        result.back().filterStep == inner.trips * inner.filterStep)
      result.back() = {result.back().trips * inner.trips, inner.inputStep, inner.filterStep};
    else
      result.push_back(inner);
  }
  if (result.empty())
    result.push_back({1, 0, 0});
  loops.assign(result);
}

/// A packed filter whose last block is not whole: the loop over all channels, the channels in a
/// block, and the stride between blocks.
struct PartialBlocks {
  unsigned loop;
  int64_t block, stride;
};

/// Takes `k floordiv block` and `k mod block`, the indices of loop k in such a filter, from
/// `indices` and `strides`; nullopt if there are none.
std::optional<PartialBlocks> takePartialBlocks(SmallVectorImpl<AffineExpr> &indices,
                                               SmallVectorImpl<int64_t> &strides) {
  if (indices.empty() || indices.back().getKind() != AffineExprKind::Mod || strides.back() != 1)
    return std::nullopt;
  auto inBlock = cast<AffineBinaryOpExpr>(indices.back());
  auto loop = dyn_cast<AffineDimExpr>(inBlock.getLHS());
  auto block = dyn_cast<AffineConstantExpr>(inBlock.getRHS());
  if (!loop || !block)
    return std::nullopt;
  auto *blocks = llvm::find(indices, loop.floorDiv(block));
  if (blocks == indices.end())
    return std::nullopt;
  auto *stride = strides.begin() + (blocks - indices.begin());
  PartialBlocks found{loop.getPosition(), block.getValue(), *stride};
  indices.erase(blocks);
  strides.erase(stride);
  indices.pop_back();
  strides.pop_back();
  return found;
}

/// Whether the body is out + a * b, as in linalg's named products, and does not use a third input.
bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  unsigned inputs = op.getNumDpsInputs();
  if (body->getNumArguments() != inputs + 1 || (inputs == 3 && !body->getArgument(2).use_empty()))
    return false;
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  for (auto [first, second] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto product = second.getDefiningOp<arith::MulFOp>();
        product && first == body->getArguments().back())
      return (product.getLhs() == body->getArgument(0) &&
              product.getRhs() == body->getArgument(1)) ||
             (product.getLhs() == body->getArgument(1) && product.getRhs() == body->getArgument(0));
  return false;
}

} // namespace

FailureOr<Contraction> matchContraction(linalg::LinalgOp product, linalg::FillOp fill,
                                        linalg::GenericOp epilogue) {
  if ((product.getNumDpsInputs() != 2 && product.getNumDpsInputs() != 3) ||
      product.getNumDpsInits() != 1 || !isMultiplyAdd(product))
    return failure();
  Value input = product.getDpsInputs()[0], filter = product.getDpsInputs()[1],
        output = product.getDpsInits()[0];
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  if (llvm::any_of(ValueRange{input, filter, output},
                   [](Value value) { return failed(staticStrides(value)) || !isF32(value); }))
    return failure();
  SmallVector<AffineExpr> filterIndices(maps[1].getResults());
  SmallVector<int64_t> filterStrides = *staticStrides(filter);
  std::optional<PartialBlocks> partial = takePartialBlocks(filterIndices, filterStrides);
  FailureOr<SmallVector<int64_t>> in = loopStrides(input, maps[0]),
                                  weights = stridesOfLoops(maps[1].getNumDims(), filterIndices,
                                                           filterStrides),
                                  out = loopStrides(output, maps.back());
  if (failed(in) || failed(weights) || failed(out))
    return failure();
  SmallVector<int64_t> ranges = product.getStaticLoopRanges();
  // Empty and dynamic dims are not supported.
  if (llvm::any_of(ranges, [](int64_t size) { return size < 1; }))
    return failure();

  Contraction found{product, fill, epilogue, 1, 1, 1, 1};
  found.filter = filter;
  found.input.buffer = input;
  found.output.buffer = output;
  int n = -1, h = -1, w = -1, k = -1, g = -1, inBlock = -1;
  SmallVector<int> reductions;
  OutputDims dims; // for the epilogue: one for each dim of the output
  if (isa<linalg::Conv2DNhwcHwcfOp>(product) || (partial && ranges.size() == 7)) {
    n = 0, h = 1, w = 2, k = 3;
    reductions = {4, 5, 6};
    dims = {0, 1, 2, 3};
  } else if (isa<linalg::DepthwiseConv2DNhwcHwcOp>(product)) {
    n = 0, h = 1, w = 2, k = 3;
    reductions = {4, 5};
    dims = {0, 1, 2, 3};
  } else if (isa<linalg::MatmulOp>(product) || (partial && ranges.size() == 3)) {
    w = 0, k = 1;
    reductions = {2};
    dims = {-1, -1, 0, 1};
  } else if (isa<linalg::BatchMatmulOp>(product)) {
    n = 0, w = 1, k = 2;
    reductions = {3};
    dims = {0, -1, 1, 2};
  } else if (isa<linalg::GenericOp>(product) && ranges.size() == 8 && (*out)[3] == ranges[4] &&
             (*out)[4] == 1 && (*in)[3] == 0) {
    n = 0, h = 1, w = 2, k = 3, inBlock = 4;
    reductions = {5, 6, 7};
    dims = {0, 1, 2, 3};
  } else if (isa<linalg::GenericOp>(product) && ranges.size() == 4 && (*out)[1] == ranges[2] &&
             (*out)[2] == 1 && (*in)[1] == 0) {
    w = 0, k = 1, inBlock = 2;
    reductions = {3};
    dims = {-1, -1, 0, 1};
  } else if (isa<linalg::Conv3DNdhwcDhwcfOp>(product) ||
             (partial && ranges.size() == 9 && product.getNumReductionLoops() == 4)) {
    // The outermost spatial dim is treated as groups that share one filter.
    n = 0, g = 1, h = 2, w = 3, k = 4;
    reductions = {5, 6, 7, 8};
    dims = {0, 2, 3, 4, 1};
  } else if (isa<linalg::GenericOp>(product) && ranges.size() == 10 && (*out)[4] == ranges[5] &&
             (*out)[5] == 1 && (*in)[4] == 0) {
    n = 0, g = 1, h = 2, w = 3, k = 4, inBlock = 5;
    reductions = {6, 7, 8, 9};
    dims = {0, 2, 3, 4, 1};
  } else if (isa<linalg::GenericOp>(product) && ranges.size() == 8 && (*out)[1] == ranges[4]) {
    n = 0, g = 1, h = 2, w = 3, k = 4;
    reductions = {5, 6, 7};
    dims = {0, 1, 2, 3};
  } else if (isa<linalg::GenericOp>(product) && ranges.size() == 9 && (*out)[4] == ranges[5] &&
             (*out)[5] == 1 && (*in)[4] == 0) {
    n = 0, g = 1, h = 2, w = 3, k = 4, inBlock = 5;
    reductions = {6, 7, 8};
    dims = {0, 1, 2, 3};
  } else {
    return failure();
  }
  for (auto [dim, iterator] : llvm::enumerate(product.getIteratorTypesArray()))
    if ((iterator == utils::IteratorType::reduction) != llvm::is_contained(reductions, int(dim)))
      return failure();

  auto at = [](ArrayRef<int64_t> values, int dim, int64_t otherwise) {
    return dim < 0 ? otherwise : values[dim];
  };
  found.images = at(ranges, n, 1), found.rows = at(ranges, h, 1), found.columns = at(ranges, w, 1);
  found.input = {input, at(*in, n, 0), at(*in, h, 0), at(*in, w, 0), (*in)[k]};
  found.output = {output, at(*out, n, 0), at(*out, h, 0), at(*out, w, 0), 1};
  found.filterImage = at(*weights, n, 0);
  found.groups = at(ranges, g, 1), found.filterGroup = at(*weights, g, 0);
  found.input.g = at(*in, g, 0), found.output.g = at(*out, g, 0);
  if (at(*weights, h, 0) != 0 || at(*weights, w, 0) != 0 || found.input.k > 1)
    return failure();
  if (inBlock >= 0) {
    found.block = ranges[inBlock];
    found.filterBlock = (*weights)[k];
    found.channels = ranges[k] * ranges[inBlock];
    if ((*weights)[inBlock] != 1 || (*in)[inBlock] != 0)
      return failure();
  } else {
    found.channels = ranges[k];
    if (partial) {
      found.block = partial->block;
      found.filterBlock = partial->stride;
    }
    if ((partial ? partial->loop != unsigned(k) || (*weights)[k] != 0 : (*weights)[k] != 1) ||
        (*out)[k] != 1)
      return failure();
  }
  // A convolution with a transformed filter (passes/common/WinogradFilter.h).
  if (product.getNumDpsInputs() == 3) {
    FailureOr<SmallVector<int64_t>> strides = staticStrides(product.getDpsInputs()[2]);
    if (ranges.size() < 8 || inBlock < 0 || failed(strides) || strides->back() != 1 ||
        (*strides)[strides->size() - 2] != ranges[inBlock])
      return failure();
    found.transformed = product.getDpsInputs()[2];
    found.depth = ranges.back();
    found.dilation = (*in)[ranges.size() - 2] / (*in)[w];
    if (ranges.size() == 10)
      found.taps = {ranges[6], (*in)[6], (*weights)[6]};
  }
  for (int dim : reductions)
    found.loops.push_back({ranges[dim], (*in)[dim], (*weights)[dim]});
  if (auto rows = product->getAttrOfType<DenseI64ArrayAttr>(kInputRowsAttr);
      rows && rows.size() == 2 && reductions.size() == 3 && ranges[reductions[0]] > 1) {
    int64_t row = (*staticStrides(input))[1];
    found.inputRows = {rows[0], rows[1], found.input.h / row, found.loops[0].inputStep / row};
    found.loops[0].isRows = true;
  }
  simplify(found.loops);

  if (fill) {
    if (fill.getOutputs()[0] != output || !fill.getInputs()[0].getType().isF32())
      return failure();
  }
  if (epilogue && failed(addEpilogue(found, output, dims, /*hasGroups=*/g >= 0 && dims.g < 0)))
    return failure();
  return found;
}

} // namespace convoy
