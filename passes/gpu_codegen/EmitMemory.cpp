// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits addresses, loads and stores of a kernel's operands.

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/gpu_codegen/Emitter.h"
#include <numeric>

using namespace mlir;

namespace convoy::gpu_codegen {

SmallVector<Value> Emitter::delinearize(Value linear, ArrayRef<KernelLoop> loops, int64_t lanes) {
  SmallVector<Value> indices(loops.size());
  for (int64_t i = int64_t(loops.size()) - 1; i >= 0; --i) {
    int64_t together = std::min(lanes, loops[i].size), size = loops[i].size / together;
    lanes /= together;
    Value index = linear;
    if (size == 1) {
      index = constant(0);
    } else if (i != 0) {
      index = arith::RemUIOp::create(b, loc, linear, constant(size));
      linear = arith::DivUIOp::create(b, loc, linear, constant(size));
    }
    indices[i] = mul(index, together);
  }
  return indices;
}

/// The reduction loops that enclose `indices`: none for accesses outside of the reduction, e.g. of
/// an epilogue.
static ArrayRef<KernelLoop> reductionAround(const KernelMapping &plan, ArrayRef<Value> indices) {
  return indices.empty() ? ArrayRef<KernelLoop>() : ArrayRef(plan.reduction);
}

SmallVector<Value> Emitter::dimIndices(const Indices &indices, int64_t lane) {
  SmallVector<Value> dims(op.getNumLoops());
  for (auto [i, loop] : llvm::enumerate(plan.parallel)) {
    Value index = mul(add(indices.parallel[i], plan.iterationOf(i, lane)), loop.dimStep);
    Value &dim = dims[loop.dim];
    dim = dim ? add(dim, index) : index;
  }
  for (auto [loop, index] :
       llvm::zip_equal(reductionAround(plan, indices.reduction), indices.reduction))
    dims[loop.dim] = index;
  return dims;
}

Value Emitter::address(unsigned number, const Indices &indices, int64_t lane) {
  const KernelOperand &operand = plan.operands[number];
  if (!operand.isLinear)
    return affine::expandAffineExpr(b, loc, operand.address, dimIndices(indices, lane), {});
  int64_t start = operand.start + plan.laneOffset(number, lane);
  Value sum;
  auto accumulate = [&](ArrayRef<KernelLoop> loops, ArrayRef<Value> values) {
    for (auto [loop, index] : llvm::zip_equal(loops, values)) {
      if (loop.steps[number] == 0)
        continue;
      Value term = mul(index, loop.steps[number]);
      sum = sum ? add(sum, term) : term;
    }
  };
  accumulate(plan.parallel, indices.parallel);
  accumulate(reductionAround(plan, indices.reduction), indices.reduction);
  return sum ? add(sum, start) : constant(start);
}

llvm::MaybeAlign Emitter::alignment(unsigned number, int64_t lane) {
  const KernelOperand &operand = plan.operands[number];
  Type type = operand.buffer->type.getElementType();
  if (!operand.isLinear || type.isInteger(1))
    return {};
  int64_t divisor = operand.start + plan.laneOffset(number, lane);
  for (auto [i, loop] : llvm::enumerate(plan.parallel)) {
    if (loop.isPadded())
      return {};
    divisor = std::gcd(divisor, loop.steps[number] * plan.iterations(i, plan.lanes));
  }
  for (const KernelLoop &loop : plan.reduction)
    divisor = std::gcd(divisor, loop.steps[number]);
  constexpr int64_t kWidest = 16;
  int64_t bytes =
      divisor == 0 ? kWidest : std::min((divisor & -divisor) * elementBytes(type), kWidest);
  return bytes > elementBytes(type) && isRootAligned(*operand.buffer, bytes)
             ? llvm::MaybeAlign(bytes)
             : llvm::MaybeAlign();
}

Value Emitter::loadOne(unsigned number, const Indices &indices, int64_t lane) {
  const KernelOperand &operand = plan.operands[number];
  if (!operand.buffer)
    return cloneConstant(operand.value);
  return memref::LoadOp::create(b, loc, argumentOf(*operand.buffer), address(number, indices, lane),
                                /*nontemporal=*/false, alignment(number, lane));
}

Emitter::Lanes Emitter::loadVector(unsigned number, const Indices &indices, int64_t lane,
                                   int64_t width) {
  return loadVector(*plan.operands[number].buffer, address(number, indices, lane), width);
}

Emitter::Lanes Emitter::loadVector(const Buffer &buffer, Value where, int64_t width,
                                   llvm::MaybeAlign alignment) {
  Type type = buffer.type.getElementType();
  if (!alignment)
    alignment = llvm::MaybeAlign(vectorAlignment(type, width));
  auto vector = vector::LoadOp::create(b, loc, VectorType::get({width}, type), argumentOf(buffer),
                                       where, /*nontemporal=*/false, alignment);
  Lanes values;
  for (int64_t i = 0; i < width; ++i)
    values.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return values;
}

Emitter::Lanes Emitter::moveWords(ArrayRef<Value> values, bool everyTime) {
  int64_t width = values.size();
  Type word = b.getI32Type();
  auto type = VectorType::get({width}, values.front().getType()),
       packed = VectorType::get({width / 2}, word);
  Value vector = vector::BitCastOp::create(b, loc, packed,
                                           vector::FromElementsOp::create(b, loc, type, values));
  Lanes words, moved;
  for (int64_t i = 0; i < width / 2; ++i) {
    Value each = vector::ExtractOp::create(b, loc, vector, i);
    words.push_back(LLVM::InlineAsmOp::create(
                        b, loc, word, each, "mov.b32 $0, $1;", "=r,r",
                        /*has_side_effects=*/everyTime,
                        /*is_align_stack=*/false, LLVM::TailCallKind::None,
                        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
                        /*operand_attrs=*/nullptr)
                        .getResult(0));
  }
  vector = vector::BitCastOp::create(b, loc, type,
                                     vector::FromElementsOp::create(b, loc, packed, words));
  for (int64_t i = 0; i < width; ++i)
    moved.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return moved;
}

Emitter::Lanes Emitter::loadLanes(unsigned number, const Indices &indices,
                                  ArrayRef<int64_t> activeLanes) {
  const KernelOperand &operand = plan.operands[number];
  if (!operand.buffer)
    return Lanes(activeLanes.size(), loadOne(number, indices, 0));
  bool hasAll = int64_t(activeLanes.size()) == plan.lanes;
  if (hasAll && isVectorAccess(plan, number, plan.lanes))
    return loadVector(number, indices, 0, plan.lanes);
  // Lanes of the same address share its element, and those along the loop before the last one may
  // share a vector.
  llvm::SmallDenseMap<int64_t, Value> loaded;
  int64_t last = int64_t(plan.parallel.size()) - 1,
          width = last > 0 ? plan.iterations(last - 1, plan.lanes) : 1;
  if (hasAll && width > 1 && isVectorAlong(plan, last - 1, number, width)) {
    const KernelLoop &inner = plan.parallel[last];
    for (int64_t first = 0; first < (inner.steps[number] == 0 ? 1 : inner.size); ++first)
      for (auto [i, value] : llvm::enumerate(loadVector(number, indices, first, width)))
        loaded[plan.laneOffset(number, first + i * inner.size)] = value;
  }
  Lanes values;
  for (int64_t lane : activeLanes) {
    Value &value = loaded[operand.isLinear ? plan.laneOffset(number, lane) : lane];
    if (!value)
      value = loadOne(number, indices, lane);
    values.push_back(value);
  }
  return values;
}

void Emitter::storeLanes(unsigned number, const Indices &indices, ArrayRef<Value> values) {
  const KernelOperand &operand = plan.operands[number];
  Value memory = argumentOf(*operand.buffer);
  if (isVectorAccess(plan, number, plan.lanes)) {
    Type type = operand.buffer->type.getElementType();
    Value vector =
        vector::FromElementsOp::create(b, loc, VectorType::get({plan.lanes}, type), values);
    vector::StoreOp::create(b, loc, vector, memory, ValueRange{address(number, indices, 0)},
                            /*nontemporal=*/false,
                            llvm::MaybeAlign(vectorAlignment(type, plan.lanes)));
    return;
  }
  for (auto [lane, value] : llvm::enumerate(values))
    memref::StoreOp::create(b, loc, value, memory, address(number, indices, lane));
}

} // namespace convoy::gpu_codegen
