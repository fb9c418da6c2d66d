// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Emits the loads of runs (WindowRuns.h) in the unrolled iterations of a reduction.

#include "passes/gpu_codegen/Emitter.h"

using namespace mlir;

namespace convoy::gpu_codegen {

const RunLoad *Emitter::runOf(memref::LoadOp load) const {
  const RunLoad *run = llvm::find_if(plan.runs, [&](const RunLoad &r) { return r.load == load; });
  return run == plan.runs.end() ? nullptr : run;
}

void Emitter::startRuns(const Indices &indices) {
  runElements.clear();
  runStarts.clear();
  if (plan.runs.empty())
    return;
  SmallVector<Value> dims = dimIndices(indices, /*lane=*/0);
  for (const KernelLoop &loop : ArrayRef(plan.reduction).take_back(plan.unrolled))
    dims[loop.dim] = Value();
  for (const RunLoad &run : plan.runs) {
    Value start = constant(0);
    for (auto [dim, step] : llvm::zip_equal(dims, run.steps))
      if (dim && step != 0)
        start = add(start, mul(dim, step));
    runStarts.push_back(start);
  }
}

Value Emitter::loadOfRun(const RunLoad &run, const IRMapping &mapping, int64_t lane) {
  int64_t number = &run - plan.runs.begin(), offset = run.offset(lane, turn);
  // The run, its row, and the offset of an element.
  std::vector<int64_t> place = {number};
  for (auto [isRow, i] : llvm::zip_equal(run.rows, turn))
    place.push_back(isRow ? i : 0);
  place.push_back(offset);
  if (auto known = runElements.find(place); known != runElements.end())
    return known->second;

  memref::LoadOp load = run.load;
  const Buffer &buffer = captured[load.getMemRef()];
  const RunLoad::Group *group = llvm::find_if(run.groups, [&](const RunLoad::Group &each) {
    return offset >= each.begin && offset < each.begin + each.width;
  });
  if (group == run.groups.end()) {
    Value element =
        memref::LoadOp::create(b, loc, argumentOf(buffer), address(load, buffer, mapping),
                               /*nontemporal=*/false, llvm::MaybeAlign());
    return runElements[place] = element;
  }
  Value where = constant(buffer.offset);
  for (auto [index, stride] :
       llvm::zip_equal(load.getIndices().drop_back(), ArrayRef(buffer.strides).drop_back()))
    where = add(where, mul(mapping.lookup(index), stride));
  where = add(add(where, runStarts[number]), group->begin);
  Lanes elements = loadVector(buffer, where, group->width);
  // LLVM splits a load of which other vectors are made, as of the maximum of two neighbors, into
  // loads of 16 bits.
  if (run.isShared && load.getType().getIntOrFloatBitWidth() == 16)
    elements = moveWords(elements, /*everyTime=*/false);
  for (auto [i, element] : llvm::enumerate(elements)) {
    place.back() = group->begin + i;
    runElements[place] = element;
  }
  place.back() = offset;
  return runElements[place];
}

} // namespace convoy::gpu_codegen
