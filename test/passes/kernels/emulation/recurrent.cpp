// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of recurrent layers on the host, for test_emulated_recurrent.py.

#include "recurrent.cu"
#include "grid.h"
#include "recurrent_step.cu"

/// Runs all steps. The type of elements is number `type` of f16, bf16 and f32. Without `split`,
/// with recurrent_step.cu. Returns the bytes of shared memory.
extern "C" int run(int type, const void *given, const void *w, const void *bias, const void *hidden,
                   const void *cell, void *y, void *lastCell, const RecurrentArguments *arguments) {
  const RecurrentArguments layer = *arguments;
  const RecurrentTile tile = {type == 2 ? 4 : 2};
  const int gates = gatesOf(layer), batches = (layer.rows + kRecurrentRows - 1) / kRecurrentRows;
  const RecurrentShared geometry = {tile, layer.size, gates, layer.warps, layer.groups};
  const bool isLoop = layer.split > 0;
  const int groups = (layer.size + tile.units(gates) - 1) / tile.units(gates),
            bytes = isLoop ? geometry.allBytes()
                           : (layer.warps < geometry.steps() ? layer.warps : geometry.steps()) *
                                 tile.sumBytes();
  auto runAs = [&](auto loop, auto step, auto element) {
    using T = decltype(element);
    auto in = [](const void *tensor) { return static_cast<const T *>(tensor); };
    auto out = [](void *tensor) { return static_cast<T *>(tensor); };
    if (isLoop)
      return runGrid(layer.split * batches, layer.warps * 32, layer.split, bytes, [&] {
        loop(in(given), in(w), in(bias), in(hidden), in(cell), out(y), out(lastCell), layer);
      });
    for (int launch = 0; launch < layer.steps; ++launch)
      runGrid(groups * batches, layer.warps * 32, 1, bytes, [&] {
        step(in(given), in(w), in(bias), in(hidden), in(cell), out(y), out(lastCell), launch,
             layer);
      });
  };
  if (type == 0)
    runAs(convoy_recurrent_f16, convoy_recurrent_step_f16, f16());
  else if (type == 1)
    runAs(convoy_recurrent_bf16, convoy_recurrent_step_bf16, bf16());
  else
    runAs(convoy_recurrent_f32, convoy_recurrent_step_f32, 0.0f);
  return bytes;
}
