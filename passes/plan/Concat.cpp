// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/plan/Concat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "passes/common/Buffers.h"

using namespace mlir;

namespace convoy {

namespace {

/// A condition that is true where an index of the result is below a bound.
struct Below {
  unsigned dim;
  int64_t bound;
};

} // namespace

static std::optional<Below> matchBelow(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  auto index = compare ? compare.getLhs().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  if (!index || compare.getPredicate() != arith::CmpIPredicate::ult)
    return std::nullopt;
  std::optional<int64_t> bound = getConstantIntValue(compare.getRhs());
  return bound ? std::optional(Below{unsigned(index.getDim()), *bound}) : std::nullopt;
}

/// Adds the parts of `whole` that branches on its indices distinguish.
static void collect(Concat &concat, const ConcatPart &whole) {
  auto branch = whole.value.getDefiningOp<scf::IfOp>();
  std::optional<Below> below;
  if (branch && branch.getNumResults() == 1)
    below = matchBelow(branch.getCondition());
  if (!below || (whole.enclosing.size() > 1 && below->dim != concat.dim)) {
    concat.parts.push_back(whole);
    return;
  }
  if (whole.enclosing.size() == 1)
    concat.dim = below->dim;
  auto inBlock = [&](Block *block, int64_t begin, int64_t end) {
    ConcatPart part = whole;
    part.begin = std::max(begin, whole.begin);
    part.end = std::min(end, whole.end);
    part.value = block->getTerminator()->getOperand(0);
    part.enclosing.push_back(block);
    if (part.size() > 0)
      collect(concat, part);
  };
  inBlock(branch.thenBlock(), whole.begin, below->bound);
  inBlock(branch.elseBlock(), below->bound, whole.end);
}

std::optional<Concat> Concat::match(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 0 || op.getNumReductionLoops() != 0 ||
      !op.hasPureBufferSemantics() || !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return std::nullopt;
  Block *body = op.getBody();
  Value yielded = body->getTerminator()->getOperand(0);
  auto branch = yielded.getDefiningOp<scf::IfOp>();
  std::optional<Below> below = branch ? matchBelow(branch.getCondition()) : std::nullopt;
  auto type = dyn_cast<MemRefType>(op.getDpsInits()[0].getType());
  if (!below || !type || !type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  Concat concat;
  concat.op = op;
  collect(concat, {0, type.getDimSize(below->dim), yielded, {body}});
  return concat;
}

Value Concat::result() const { return linalg::GenericOp(op).getDpsInits()[0]; }

int64_t Concat::bytesPerIndex() const { return packedBytes(type()) / type().getDimSize(dim); }

int64_t Concat::innerBytes() const {
  ArrayRef<int64_t> inner = type().getShape().drop_front(dim + 1);
  return ShapedType::getNumElements(inner) * elementBytes(type().getElementType());
}

memref::LoadOp Concat::loadOf(const ConcatPart &part) const {
  auto load = part.value.getDefiningOp<memref::LoadOp>();
  if (!load || load.getMemRefType().getRank() != type().getRank())
    return nullptr;
  auto isIndex = [](Value value, size_t of) {
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == of;
  };
  for (auto [i, index] : llvm::enumerate(load.getIndices())) {
    int64_t size = i == dim ? part.size() : type().getDimSize(i);
    if (load.getMemRefType().getDimSize(i) != size)
      return nullptr;
    if (size == 1 && getConstantIntValue(index) == 0)
      continue;
    Value shifted = index;
    if (i == dim && part.begin != 0) {
      auto shift = index.getDefiningOp<arith::SubIOp>();
      if (!shift || getConstantIntValue(shift.getRhs()) != part.begin)
        return nullptr;
      shifted = shift.getLhs();
    }
    if (!isIndex(shifted, i))
      return nullptr;
  }
  return load;
}

Value Concat::slice(OpBuilder &builder, int64_t begin, int64_t end) const {
  SmallVector<int64_t> offsets(type().getRank(), 0), sizes(type().getShape()),
      strides(type().getRank(), 1);
  offsets[dim] = begin;
  sizes[dim] = end - begin;
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return memref::SubViewOp::create(builder, linalg::GenericOp(op).getLoc(), result(),
                                   attributes(offsets), attributes(sizes), attributes(strides));
}

MemRefType Concat::sliceType(int64_t begin, int64_t end) const {
  SmallVector<int64_t> offsets(type().getRank(), 0), sizes(type().getShape()),
      strides(type().getRank(), 1);
  offsets[dim] = begin;
  sizes[dim] = end - begin;
  return memref::SubViewOp::inferResultType(type(), offsets, sizes, strides);
}

/// Clones the ops of `block` without a copy in `mapping`, except the branch that leads to `part`.
static void cloneBlock(OpBuilder &builder, Block *block, const ConcatPart &part,
                       IRMapping &mapping) {
  for (Operation &op : block->without_terminator())
    if (!(op.getNumResults() == 1 && mapping.contains(op.getResult(0))) &&
        llvm::none_of(part.enclosing, [&](Block *inner) { return inner->getParentOp() == &op; }))
      builder.clone(op, mapping);
}

/// Computes the element of the one of `parts` that has the index, which a binary search finds.
/// `index` is that of the copy in the concat's dim, which begins at `shift`. `mapping` has the
/// values of the concat's body.
static Value choosePart(OpBuilder &builder, Location loc, ArrayRef<ConcatPart> parts, Value index,
                        int64_t shift, IRMapping mapping) {
  if (parts.size() == 1) {
    for (Block *block : ArrayRef(parts.front().enclosing).drop_front())
      cloneBlock(builder, block, parts.front(), mapping);
    return mapping.lookupOrDefault(parts.front().value);
  }
  size_t half = parts.size() / 2;
  Value before = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index,
      arith::ConstantIndexOp::create(builder, loc, parts[half].begin - shift));
  auto yield = [&](ArrayRef<ConcatPart> here) {
    return [&, here](OpBuilder &inner, Location innerLoc) {
      scf::YieldOp::create(inner, innerLoc,
                           choosePart(inner, innerLoc, here, index, shift, mapping));
    };
  };
  return scf::IfOp::create(builder, loc, before, yield(parts.take_front(half)),
                           yield(parts.drop_front(half)))
      .getResult(0);
}

/// Computes an element of `parts` in the body of their copy.
static Value computeElement(OpBuilder &builder, Location loc, ArrayRef<ConcatPart> parts,
                            unsigned dim) {
  int64_t shift = parts.front().begin;
  Value index = linalg::IndexOp::create(builder, loc, dim);
  IRMapping mapping;
  Block *body = parts.front().enclosing.front();
  // Indices in the concat.
  for (auto each : body->getOps<linalg::IndexOp>())
    if (each.getDim() == dim)
      mapping.map(each.getResult(),
                  builder.createOrFold<arith::AddIOp>(
                      loc, index, arith::ConstantIndexOp::create(builder, loc, shift)));
  cloneBlock(builder, body, parts.front(), mapping);
  return choosePart(builder, loc, parts, index, shift, mapping);
}

void Concat::copy(ArrayRef<ConcatPart> neighbors) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value output = slice(builder, neighbors.front().begin, neighbors.back().end);
  AffineMap identity = builder.getMultiDimIdentityMap(type().getRank());
  SmallVector<utils::IteratorType> iterators(type().getRank(), utils::IteratorType::parallel);
  SmallVector<Value> inputs;
  if (neighbors.size() == 1)
    if (memref::LoadOp load = loadOf(neighbors.front()))
      inputs.push_back(load.getMemRef());
  SmallVector<AffineMap> maps(inputs.size() + 1, identity);
  linalg::GenericOp::create(builder, loc, TypeRange(), inputs, output, maps, iterators,
                            [&](OpBuilder &inner, Location innerLoc, ValueRange arguments) {
                              Value element = inputs.empty()
                                                  ? computeElement(inner, innerLoc, neighbors, dim)
                                                  : arguments.front();
                              linalg::YieldOp::create(inner, innerLoc, element);
                            });
}

} // namespace convoy
