// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Writes products of few terms, which are bound by memory, as elementwise ops and sums. They become
// part of generated kernels, and have any order of dims.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/FewTerms.h"

namespace convoy {
#define GEN_PASS_DEF_TCPEXPANDPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// A product as a sum over the elements of a dim of each operand, which are multiplied with
/// broadcasting.
struct Sum {
  Value lhs, rhs;
  int64_t lhsDim, rhsDim, terms;
};

struct TcpExpandProductsPass
    : public convoy::impl::TcpExpandProductsPassBase<TcpExpandProductsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

static TransposeOp swapFirst(OpBuilder &builder, Location loc, Value value) {
  SmallVector<int64_t> shape(shapeOf(value)),
      perm = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(shape[0], shape[1]);
  std::swap(perm[0], perm[1]);
  return TransposeOp::create(builder, loc, withShape(value.getType(), shape), value, perm);
}

/// The sum that `op` becomes, or std::nullopt if it remains.
static std::optional<Sum> sumOf(Operation *op, const WeightValues &weights, OpBuilder &builder) {
  auto rank = static_cast<int64_t>(shapeOf(op->getResult(0)).size());
  if (auto matmul = dyn_cast<MatmulOp>(op); matmul && isFewTermsOfMatmul(matmul, weights))
    return Sum{matmul.getLhs(), matmul.getRhs(), rank - 1, rank - 2,
               shapeOf(matmul.getLhs()).back()};
  if (auto conv = dyn_cast<ConvOpInterface>(op); conv && isFewTermsOfConv(conv, weights))
    return Sum{conv.getInput(), swapFirst(builder, op->getLoc(), conv.getWeights()), 1, 0,
               shapeOf(conv.getInput())[1]};
  return std::nullopt;
}

/// The bias that is the only user of `product`. Libraries add it before they round the result.
static AddOp biasAfter(Operation *product, const WeightValues &weights) {
  auto add = product->hasOneUse() ? dyn_cast<AddOp>(*product->user_begin()) : AddOp();
  if (!add || add.getType() != product->getResult(0).getType())
    return nullptr;
  Value other = add.getLhs() == product->getResult(0) ? add.getRhs() : add.getLhs();
  return weights.contains(other) ? add : nullptr;
}

namespace {

/// Creates the ops of a sum, which computes in f32 for narrower types.
class Expansion {
public:
  Expansion(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value total(const Sum &sum) {
    Value total;
    for (int64_t term = 0; term < sum.terms; ++term) {
      Value lhs = part(sum.lhs, sum.lhsDim, term), rhs = part(sum.rhs, sum.rhsDim, term);
      SmallVector<int64_t> shape =
          llvm::map_to_vector(llvm::zip_equal(shapeOf(lhs), shapeOf(rhs)), [](auto sizes) {
            auto [a, b] = sizes;
            return a == 1 ? b : a;
          });
      Value each = MulOp::create(builder, loc, withShape(lhs.getType(), shape), lhs, rhs);
      total = total ? AddOp::create(builder, loc, each.getType(), total, each) : each;
    }
    return total;
  }

  Value wide(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementTypeBitWidth() > 16)
      return value;
    return CastOp::create(builder, loc, withElementType(type, builder.getF32Type()), value);
  }

private:
  /// The elements of a dim at `index`.
  Value part(Value value, int64_t dim, int64_t index) {
    SmallVector<int64_t> sizes(shapeOf(value)), starts(sizes.size(), 0), strides(sizes.size(), 1);
    starts[dim] = index;
    sizes[dim] = 1;
    return wide(SliceOp::create(builder, loc, withShape(value.getType(), sizes), value, starts,
                                sizes, strides));
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

/// Computes `sum` in place of `product`, and of the bias after it. Returns the replaced ops, the
/// last one first.
static SmallVector<Operation *> expand(Operation *product, const Sum &sum, AddOp bias,
                                       OpBuilder &builder) {
  Expansion expansion(builder, product->getLoc());
  Value total = expansion.total(sum);
  if (bias) {
    // The bias may be computed after the product.
    builder.setInsertionPoint(bias);
    Value other = bias.getLhs() == product->getResult(0) ? bias.getRhs() : bias.getLhs();
    total = AddOp::create(builder, bias.getLoc(), total.getType(), total, expansion.wide(other));
  }
  Operation *last = bias ? bias.getOperation() : product;
  Type type = last->getResult(0).getType();
  if (total.getType() != type)
    total = CastOp::create(builder, last->getLoc(), type, total);
  last->getResult(0).replaceAllUsesWith(total);
  return bias ? SmallVector<Operation *>{bias, product} : SmallVector<Operation *>{product};
}

void TcpExpandProductsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  WeightValues weights(function);
  OpBuilder builder(&getContext(), &weights);
  // A product in a loop is part of a recurrent layer.
  SmallVector<Operation *> products;
  for (Operation &op : function.getBody().front())
    if (isa<MatmulOp, ConvOpInterface>(op))
      products.push_back(&op);
  // Replaced ops are erased at the end, because `weights` knows values by their address.
  SmallVector<Operation *> replaced;
  for (Operation *op : products) {
    builder.setInsertionPoint(op);
    std::optional<Sum> sum = sumOf(op, weights, builder);
    if (!sum)
      continue;
    llvm::append_range(replaced, expand(op, *sum, biasAfter(op, weights), builder));
  }
  for (Operation *op : replaced)
    op->erase();
}
