// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One step of a recurrent layer for each launch. Blocks have groups of columns and eight sequences;
// the warps of a block share the sums.

#include "recurrent.h"

namespace {

/// Computes step `launch`. `cell` is the initial cell and `lastCell` the cell from then on.
template <typename T>
DEVICE void compute(const T *given, const T *w, const T *bias, const T *hidden, const T *cell, T *y,
                    T *lastCell, int launch, const Recurrent layer) {
  const Lane lane = ownLane();
  const int warp = threadId() / 32, gates = gatesOf(layer), units = tileOf<T>().units(gates),
            groups = (layer.size + units - 1) / units,
            steps = (layer.size + tileOf<T>().step() - 1) / tileOf<T>().step(),
            parts = min(layer.warps, steps);
  const int group = blockId() % groups, firstRow = blockId() / groups * kRecurrentRows,
            rows = min(layer.rows - firstRow, kRecurrentRows);
  const int index = layer.reverse ? layer.steps - 1 - launch : launch;
  const int states = layer.rows * layer.size, place = index * states;
  const T *before = launch == 0 ? hidden : y + (place + (layer.reverse ? states : -states));

  // Load what the gates need while the products are computed.
  const int unit = threadId() % units, row = threadId() / units, own = group * units + unit;
  const bool isActive = row < rows && own < layer.size;
  const int at = (firstRow + row) * layer.size + own;
  float inputs[kMostGates] = {}, added = 0;
  State state = {};
  if (isActive) {
    loadGiven(inputs, layer, given + ((place + (firstRow + row) * layer.size) * gates + own));
    if (bias)
      added = (float)bias[own];
    if (layer.mode == kGru && before)
      state.hidden = (float)before[at];
    if (const T *cells = launch == 0 ? cell : lastCell; layer.mode == kLstm && cells)
      state.cell = (float)cells[at];
  }

  Sums<T> sums = {};
  const int column = columnOf<T>(layer, group, lane);
  if (before) {
    const int count = (steps + layer.warps - 1) / layer.warps;
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      const int step = warp + i * layer.warps,
                first = step * tileOf<T>().step() + lane.quarter * tileOf<T>().width();
      u32x4 numbers = {};
      if (lane.piece < rows && first < layer.size)
        numbers = *(const u32x4 *)(before + ((firstRow + lane.piece) * layer.size + first));
      addProducts(sums, loadFactors(layer, w, column, step, lane), numbers);
    }
  }
  constexpr int kDistance = tileOf<T>().sumBytes() / sizeof(float);
  if (warp < parts)
    storeSums((float *)shared + warp * kDistance, sums, rows, lane);
  sync();
  if (!isActive)
    return;
  float products[kMostGates];
  addSums<T>(products, layer, (const float *)shared, unit, row, parts, kDistance);
  state = nextState(layer, products, inputs, added, state);
  y[place + at] = (T)state.hidden;
  if (layer.mode == kLstm)
    lastCell[at] = (T)state.cell;
}

} // namespace

#define CONVOY_RECURRENT_STEP(T, name)                                                             \
  LIBRARY void convoy_recurrent_step_##name(const T *given, const T *w, const T *bias,             \
                                            const T *hidden, const T *cell, T *y, T *lastCell,     \
                                            int launch, Recurrent layer) {                         \
    compute<T>(given, w, bias, hidden, cell, y, lastCell, launch, layer);                          \
  }
CONVOY_RECURRENT_STEP(f16, f16)
CONVOY_RECURRENT_STEP(bf16, bf16)
CONVOY_RECURRENT_STEP(float, f32)
