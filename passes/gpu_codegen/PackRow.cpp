// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Decides which rows stay in registers as they are in memory. Elements of 16 bits take half of the
// registers that they take as f32, so that two blocks run at a time on a multiprocessor: one reads
// or writes memory while the other one reduces.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/gpu_codegen/KernelMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace convoy::gpu_codegen {

namespace {

/// The passes over a row, numbered from the last one, that need a value of each of its elements.
struct Passes {
  std::optional<unsigned> one;
  bool areSeveral = false;

  void add(const Passes &other) {
    areSeveral |= other.areSeveral || (one && other.one && *one != *other.one);
    one = other.one ? other.one : one;
  }
};

} // namespace

/// Instructions of a payload, about. Conversions are part of each pass anyway.
static int64_t instructions(linalg::LinalgOp op) {
  constexpr int64_t kSlow = 8;
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isa<CastOpInterface>(inner))
      count += isa<arith::DivFOp>(inner) || isa<math::MathDialect>(inner.getDialect()) ? kSlow : 1;
  return count;
}

/// The only input with elements of rows that several passes read, if they are floats of 16 bits,
/// which threads read as vectors, and if all that several passes compute takes few instructions.
static std::optional<unsigned> packedInput(const KernelMapping &plan) {
  constexpr int64_t kMostInstructions = 12;
  const RowMapping &rows = *plan.rows;
  ArrayRef<RowOp> ops = rows.region.ops;
  SmallVector<Passes> ofOps(ops.size()), ofOperands(plan.operands.size());
  unsigned pass = 0;
  int64_t repeated = 0;
  for (size_t number = ops.size(); number-- > 0;) {
    Passes &passes = ofOps[number];
    if (ops[number].kind == RowKind::Row)
      continue;
    if (ops[number].kind == RowKind::Reduction)
      passes.one = ++pass;
    else if (rows.outputs[number])
      passes.add({pass});
    if (passes.areSeveral)
      repeated += instructions(ops[number].op);
    for (auto [input, operand] : llvm::zip_equal(ops[number].inputs, rows.inputs[number])) {
      if (input.source && ops[*input.source].kind == RowKind::Full)
        ofOps[*input.source].add(passes);
      else if (operand && plan.reduction.back().steps[*operand] != 0)
        ofOperands[*operand].add(passes);
    }
  }
  std::optional<unsigned> packed;
  for (auto [number, passes] : llvm::enumerate(ofOperands)) {
    if (!passes.areSeveral)
      continue;
    auto type = dyn_cast<FloatType>(plan.operands[number].buffer->type.getElementType());
    if (packed || !type || type.getWidth() != 16 || !isRowVector(plan, number, rows.width))
      return std::nullopt;
    packed = number;
  }
  return repeated <= kMostInstructions ? packed : std::nullopt;
}

/// Elements that a thread keeps at most, with 64 registers.
static constexpr int64_t kMostPacked = 64;

void packRow(KernelMapping &plan) {
  // Multiprocessors of a large GPU. If each of them has one row, more threads per row are faster.
  constexpr int64_t kMultiprocessors = 132;
  RowMapping &rows = *plan.rows;
  // Of several loops over elements, indices take registers too.
  if (rows.sharers != kMostThreads || rows.columns != 1 || plan.reduction.size() != 1)
    return;
  auto fits = [&](int64_t threads) {
    return rows.elementsOf(threads) + (rows.unaligned ? 1 : 0) <= kMostPacked;
  };
  bool inPairs = rows.region.rows() > kMultiprocessors && fits(kMostThreads / 2);
  if (!inPairs && (rows.isResident || !fits(kMostThreads)))
    return;
  rows.packed = packedInput(plan);
  if (!rows.packed)
    return;
  rows.isResident = true;
  if (inPairs)
    rows.sharers = kMostThreads / 2;
}

bool packColumns(KernelMapping &plan) {
  RowMapping &rows = *plan.rows;
  // Groups whose indices differ in one only have addresses that differ by a constant, which takes
  // no registers.
  if (rows.isResident || rows.elementsOf(rows.sharers) > kMostPacked || rows.outerStep == 0 ||
      rows.sharers * rows.columns != kMostThreads / 2)
    return false;
  rows.packed = packedInput(plan);
  rows.isResident = rows.packed.has_value();
  return rows.isResident;
}

} // namespace convoy::gpu_codegen
