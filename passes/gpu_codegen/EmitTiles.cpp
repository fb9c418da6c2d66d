// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits transposes through squares in shared memory.

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

void Emitter::emitTiles(Value block, Value thread) {
  int64_t tile = plan.tile, lanes = plan.lanes, last = plan.parallel.size() - 1,
          rowsAtOnce = kBlockThreads / kWarpThreads;
  SmallVector<KernelLoop> blocks(plan.parallel);
  for (int64_t i : {int64_t(plan.tileLoop), last})
    blocks[i].size = llvm::divideCeil(blocks[i].size, tile);
  Indices corner;
  corner.parallel = delinearize(block, blocks, 1);
  for (int64_t i : {int64_t(plan.tileLoop), last})
    corner.parallel[i] = mul(corner.parallel[i], tile);
  Value x = mul(arith::RemUIOp::create(b, loc, thread, constant(kWarpThreads)), lanes),
        y = arith::DivUIOp::create(b, loc, thread, constant(kWarpThreads));

  // Calls `body` for the first of each `lanes` elements of the square that the thread handles; a
  // warp iterates along `fast`.
  auto forEach = [&](int64_t fast, int64_t slow,
                     llvm::function_ref<void(const Indices &, Value, Value)> body) {
    for (int64_t row = 0; row < tile; row += rowsAtOnce)
      for (int64_t column = 0; column < tile; column += lanes * kWarpThreads) {
        Value inFast = add(x, column), inSlow = add(y, row);
        Indices indices = corner;
        indices.parallel[fast] = add(corner.parallel[fast], inFast);
        indices.parallel[slow] = add(corner.parallel[slow], inSlow);
        Value inside;
        for (int64_t i : {fast, slow}) {
          if (plan.parallel[i].size % tile == 0)
            continue;
          Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, indices.parallel[i],
                                             constant(plan.parallel[i].size));
          inside = inside ? Value(arith::AndIOp::create(b, loc, inside, here)) : here;
        }
        OpBuilder::InsertionGuard guard(b);
        if (inside)
          b.setInsertionPoint(scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false)
                                  .thenBlock()
                                  ->getTerminator());
        body(indices, inFast, inSlow);
      }
  };
  forEach(plan.tileLoop, last, [&](const Indices &indices, Value inFast, Value inSlow) {
    const auto *square = staging.begin();
    for (int64_t input = 0; input < plan.numInputs; ++input) {
      if (!plan.isTransposed(input))
        continue;
      Lanes loaded =
          lanes == 1 ? Lanes{loadOne(input, indices, 0)} : loadVector(input, indices, 0, lanes);
      for (auto [lane, value] : llvm::enumerate(loaded))
        memref::StoreOp::create(b, loc, value, *square, ValueRange{inSlow, add(inFast, lane)});
      ++square;
    }
  });
  gpu::BarrierOp::create(b, loc);
  forEach(last, plan.tileLoop, [&](const Indices &indices, Value inFast, Value inSlow) {
    SmallVector<int64_t> all = allLanes();
    auto load = [&](int64_t number) {
      return plan.operands[number].isRead ? loadLanes(number, indices, all) : Lanes(lanes, Value());
    };
    const auto *square = staging.begin();
    SmallVector<Lanes> values(lanes);
    auto append = [&](ArrayRef<Value> loaded) {
      for (auto [to, value] : llvm::zip_equal(values, loaded))
        to.push_back(value);
    };
    for (int64_t input = 0; input < plan.numInputs; ++input) {
      if (!plan.isTransposed(input)) {
        append(load(input));
        continue;
      }
      Lanes column;
      for (int64_t lane = 0; lane < lanes; ++lane)
        column.push_back(
            memref::LoadOp::create(b, loc, *square, ValueRange{add(inFast, lane), inSlow}));
      append(column);
      ++square;
    }
    append(plan.inits[0] ? Lanes(lanes, cloneConstant(plan.inits[0])) : load(plan.numInputs));
    Lanes results;
    for (int64_t lane = 0; lane < lanes; ++lane)
      results.push_back(payload(op, values[lane], indices, lane)[0]);
    storeLanes(plan.firstOutput, indices, results);
  });
}

} // namespace convoy::gpu_codegen
