// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/common/RowLoops.h"
#include "passes/common/Cumulative.h"

using namespace mlir;

namespace convoy {

/// The byte in the access's range at index zero: the constant terms of its map.
static int64_t firstByte(const RowAccess &access) {
  return access.range.begin + (access.start - access.buffer->offset) *
                                  elementBytes(access.buffer->type.getElementType());
}

bool beginAtSameElement(const RowAccess &a, const RowAccess &b) {
  return a.buffer && b.buffer && a.range.base == b.range.base && firstByte(a) == firstByte(b) &&
         a.buffer->type.getElementType() == b.buffer->type.getElementType();
}

LogicalResult RowLoops::add(linalg::LinalgOp op) {
  Member member{op, op.getStaticLoopRanges(), {}, {}};
  if ((op.getNumDpsInits() != 1 && !cumulativeCombiner(op)) || op.hasIndexSemantics() ||
      ShapedType::isDynamicShape(member.sizes) || llvm::is_contained(member.sizes, 0))
    return failure();
  for (Operation &inner : *op.getBlock())
    if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner) ||
        llvm::any_of(inner.getOperands(), [&](Value value) {
          return !isConstant(value) && !op->getRegion(0).isAncestor(value.getParentRegion());
        }))
      return failure();
  for (OpOperand &operand : op->getOpOperands()) {
    RowAccess &access = member.accesses.emplace_back();
    access.operand = &operand;
    access.isWritten = op.isDpsInit(&operand);
    access.steps.assign(member.sizes.size(), 0);
    if (!op.payloadUsesValueFromOperand(&operand) && !access.isWritten)
      continue;
    if (!isa<BaseMemRefType>(operand.get().getType())) {
      if (!isConstant(operand.get()))
        return failure();
      continue;
    }
    FailureOr<Buffer> buffer = traceBuffer(operand.get());
    if (failed(buffer))
      return failure();
    access.buffer = *buffer;
    access.range = bytesOf(*buffer);
    access.start = buffer->offset;
    for (auto [expr, stride] :
         llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), buffer->strides))
      if (!addLinear(expr, stride, access.steps, access.start))
        return failure();
    for (auto [step, size] : llvm::zip_equal(access.steps, member.sizes)) {
      if (step < 0)
        return failure();
      step = size == 1 ? 0 : step;
    }
  }
  // A part of a tensor is read with the other parts, as a sum does; its copy may share a launch
  // with the copies of the other parts.
  for (const RowAccess &access : member.accesses)
    if (access.isShifted() && llvm::count_if(member.accesses, [&](const RowAccess &other) {
                                return other.buffer && other.buffer->root == access.buffer->root;
                              }) < 2)
      return failure();
  member.pieces.resize(member.sizes.size());
  all.push_back(std::move(member));
  return success();
}

SmallVector<int64_t> RowLoops::steps(const Member &member, const RowAccess &access) const {
  SmallVector<int64_t> result(common.size(), 0);
  for (auto [pieces, step] : llvm::zip_equal(member.pieces, access.steps)) {
    int64_t current = step;
    for (unsigned piece : llvm::reverse(pieces)) {
      result[piece] += current;
      current *= common[piece].size;
    }
  }
  return result;
}

/// Makes the common loop `loop` two, of which the inner one has `inner` iterations.
void RowLoops::split(unsigned loop, int64_t inner) {
  unsigned added = common.size();
  common.push_back({inner, common[loop].isReduced});
  common[loop].size /= inner;
  for (Member &member : all)
    for (SmallVector<unsigned> &pieces : member.pieces)
      if (auto *found = llvm::find(pieces, loop); found != pieces.end())
        pieces.insert(found + 1, added);
}

/// Maps the loops along which `access` of `member` varies to those with the steps `target`, so that
/// both have the same address. Returns false, and maps no loop, if there is no such mapping.
bool RowLoops::link(Member &member, const RowAccess &access, ArrayRef<int64_t> target) {
  struct Term {
    int64_t step, size;
    unsigned loop;
  };
  SmallVector<Term> own, others;
  SmallVector<int64_t> rest(target), known = steps(member, access);
  for (auto [loop, step] : llvm::enumerate(known))
    if (step != 0 && std::exchange(rest[loop], 0) != step)
      return false;
  for (auto [loop, step] : llvm::enumerate(rest))
    if (step != 0)
      others.push_back({step, common[loop].size, unsigned(loop)});
  for (auto [loop, step] : llvm::enumerate(access.steps))
    if (step != 0 && member.pieces[loop].empty())
      own.push_back({step, member.sizes[loop], unsigned(loop)});
  // Innermost last.
  auto byStep = [](const Term &a, const Term &b) { return a.step > b.step; };
  llvm::sort(own, byStep);
  llvm::sort(others, byStep);
  SmallVector<SmallVector<unsigned>> before = member.pieces;
  auto undo = [&] {
    for (auto [pieces, old] : llvm::zip_equal(member.pieces, before))
      if (old.empty())
        pieces.clear();
    return false;
  };
  while (!own.empty() && !others.empty()) {
    Term &a = own.back(), &b = others.back();
    if (a.step != b.step || (a.size % b.size != 0 && b.size % a.size != 0))
      return undo();
    int64_t size = std::min(a.size, b.size);
    unsigned piece = b.loop;
    if (b.size > size) {
      split(b.loop, size);
      piece = common.size() - 1;
    }
    member.pieces[a.loop].insert(member.pieces[a.loop].begin(), piece);
    for (auto [terms, term] : {std::pair(&own, &a), std::pair(&others, &b)}) {
      term->step *= size;
      term->size /= size;
      if (term->size == 1)
        terms->pop_back();
    }
  }
  return own.empty() && others.empty() ? true : undo();
}

std::optional<RowKind> RowLoops::kind(const Member &member) const {
  linalg::LinalgOp op = member.op;
  SmallVector<int64_t> uses(common.size(), 0);
  for (auto [pieces, iterator, size] :
       llvm::zip_equal(member.pieces, op.getIteratorTypesArray(), member.sizes)) {
    if (pieces.empty() && size != 1)
      return std::nullopt;
    for (unsigned piece : pieces) {
      ++uses[piece];
      if (op.getNumReductionLoops() != 0 &&
          common[piece].isReduced != (iterator == utils::IteratorType::reduction))
        return std::nullopt;
    }
  }
  bool coversRows = true, coversElements = true, touchesElements = false;
  for (auto [loop, count] : llvm::zip_equal(common, uses)) {
    if (count > 1)
      return std::nullopt;
    (loop.isReduced ? coversElements : coversRows) &= count == 1;
    touchesElements |= loop.isReduced && count == 1;
  }
  if (!coversRows || coversElements != touchesElements)
    return std::nullopt;
  if (op.getNumReductionLoops() == 0)
    return coversElements ? RowKind::Full : RowKind::Row;
  if (!coversElements)
    return std::nullopt;
  return op.getNumDpsInits() == 1 ? RowKind::Reduction : RowKind::Cumulative;
}

bool RowLoops::place(Member &member) {
  // Memory that one of the two ops writes comes first, because the other must access it in the same
  // way; memory that both only read may be read in different ways.
  for (bool isWritten : {true, false})
    for (const RowAccess &access : member.accesses)
      for (const Member &other : all) {
        if (!other.isPlaced)
          continue;
        for (const RowAccess &target : other.accesses)
          if (beginAtSameElement(access, target) &&
              (access.isWritten || target.isWritten) == isWritten &&
              !link(member, access, steps(other, target)) && isWritten)
            return false;
      }
  member.isPlaced = kind(member).has_value();
  return member.isPlaced;
}

LogicalResult RowLoops::place(unsigned first) {
  Member &seed = all[first];
  for (auto [loop, size] : llvm::enumerate(seed.sizes)) {
    if (size == 1)
      continue;
    seed.pieces[loop] = {unsigned(common.size())};
    common.push_back(
        {size, seed.op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction});
  }
  seed.isPlaced = true;
  bool progress = true;
  while (std::exchange(progress, false))
    for (Member &member : all)
      progress |= !member.isPlaced && place(member);
  return success(llvm::all_of(all, [](const Member &member) { return member.isPlaced; }));
}

} // namespace convoy
