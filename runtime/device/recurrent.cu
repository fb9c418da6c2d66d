// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// All steps of a recurrent layer in one launch. The blocks of a cluster share the columns of w,
// which stay in registers and shared memory, and after each step every block writes its part of the
// state into the shared memory of all. Each cluster has eight sequences.

#include "recurrent.h"

namespace {

template <typename T> class Sequences {
public:
  METHOD Sequences(const Recurrent &layer, const T *given, const T *bias, T *y)
      : layer(layer), given(given), bias(bias), y(y), lane(ownLane()), warp(threadId() / 32),
        rank(blockId() % layer.split), firstRow(blockId() / layer.split * kRecurrentRows),
        rows(min(layer.rows - firstRow, kRecurrentRows)) {}

  METHOD void run(const T *w, const T *hidden, const T *cell, T *lastCell) {
    clearStates();
    loadWeights(w);
    sync();
    if (hidden)
      copyState(hidden);
    beginStates(hidden, cell);
    loadInputs(0);
    // No block may write to another one before that has cleared its states.
    if (layer.split > 1)
      syncCluster();
    else
      sync();
    for (int step = 0; step < layer.steps; ++step)
      compute(step);
#pragma unroll
    for (int i = 0; i < kRecurrentMostStates; ++i)
      if (layer.mode == kLstm && isActive(i))
        lastCell[placeOf(i)] = (T)states[i].cell;
  }

private:
  static constexpr int kHeld = kRecurrentHeld / tileOf<T>().registers();
  static constexpr int kMatrices = Factors<T>::kMatrices;

  const Recurrent layer;
  const T *given, *bias;
  T *y;
  const Lane lane;
  const int warp, rank, firstRow, rows;
  Factors<T> held[kHeld];
  State states[kRecurrentMostStates];
  float inputs[kRecurrentMostStates][kMostGates], added[kRecurrentMostStates];

  METHOD int gates() const { return gatesOf(layer); }
  METHOD RecurrentShared geometry() const {
    return {tileOf<T>(), layer.size, gates(), layer.warps, layer.groups};
  }
  /// States of the block, and the first one.
  METHOD int units() const { return layer.groups * tileOf<T>().units(gates()); }
  METHOD int firstUnit() const { return rank * units(); }

  /// Addresses in shared memory: a buffer of the state, the block's part of the next state, and the
  /// factors of this lane that are not in registers.
  METHOD u32 stateAt(int buffer) const {
    return sharedAddress(shared) + buffer * geometry().stateBytes();
  }
  METHOD int partPlace() const { return 2 * geometry().stateBytes(); }
  METHOD int sumsPlace() const { return partPlace() + geometry().partBytes(); }
  METHOD u32 factorsAt(int number) const {
    return sharedAddress(shared) + sumsPlace() + geometry().sumsBytes() +
           (number * layer.warps + warp) * kMatrices * 512 + threadId() % 32 * 16;
  }

  /// State number `i` of this thread.
  METHOD int numberOf(int i) const { return threadId() + i * layer.warps * 32; }
  METHOD int unitOf(int i) const { return numberOf(i) % units(); }
  METHOD int rowOf(int i) const { return numberOf(i) / units(); }
  METHOD bool isActive(int i) const {
    return i * layer.warps * 32 < kRecurrentRows * units() && rowOf(i) < rows &&
           firstUnit() + unitOf(i) < layer.size;
  }
  METHOD int placeOf(int i) const {
    return (firstRow + rowOf(i)) * layer.size + firstUnit() + unitOf(i);
  }

  METHOD void clearStates() const {
    for (int place = threadId() * 16; place < 2 * geometry().stateBytes();
         place += layer.warps * 32 * 16)
      storeShared(sharedAddress(shared) + place, u32x4{});
  }

  METHOD void copyState(const T *hidden) const {
    const int pieces = layer.size / tileOf<T>().width();
    for (int i = threadId(); i < rows * pieces; i += layer.warps * 32) {
      const int row = i / pieces, piece = i % pieces;
      storeShared(stateAt(0) + row * geometry().pitch() + piece * 16,
                  ((const u32x4 *)(hidden + (firstRow + row) * layer.size))[piece]);
    }
  }

  METHOD void beginStates(const T *hidden, const T *cell) {
#pragma unroll
    for (int i = 0; i < kRecurrentMostStates; ++i) {
      states[i] = {};
      added[i] = 0;
      if (!isActive(i))
        continue;
      if (hidden)
        states[i].hidden = (float)hidden[placeOf(i)];
      if (cell)
        states[i].cell = (float)cell[placeOf(i)];
      if (bias)
        added[i] = (float)bias[firstUnit() + unitOf(i)];
    }
  }

  METHOD int indexOf(int step) const { return layer.reverse ? layer.steps - 1 - step : step; }

  METHOD void loadInputs(int step) {
    const int first = (indexOf(step) * layer.rows + firstRow) * layer.size * gates();
#pragma unroll
    for (int i = 0; i < kRecurrentMostStates; ++i)
      if (isActive(i))
        loadGiven(inputs[i], layer,
                  given + (first + rowOf(i) * layer.size * gates() + firstUnit() + unitOf(i)));
  }

  /// Steps of the sum are divided among the warps of a group: number `i` of this warp.
  METHOD int stepOf(int i) const { return warp / layer.groups + i * geometry().parts(); }

  METHOD void loadWeights(const T *w) {
    const int column = columnOf<T>(layer, rank * layer.groups + warp % layer.groups, lane);
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (i < geometry().own())
        held[i] = loadFactors(layer, w, column, stepOf(i), lane);
    for (int i = kHeld; i < geometry().own(); ++i) {
      const Factors<T> factors = loadFactors(layer, w, column, stepOf(i), lane);
#pragma unroll
      for (int matrix = 0; matrix < kMatrices; ++matrix) {
        const u32(&four)[4] = factors.matrices[matrix];
        storeShared(factorsAt(i - kHeld) + matrix * 512, u32x4{four[0], four[1], four[2], four[3]});
      }
    }
  }

  /// The lane's 16 bytes of its sequence in step number `i` of this warp.
  METHOD u32x4 loadState(u32 state, int i) const {
    u32x4 numbers = {};
    if (lane.piece < rows && stepOf(i) < geometry().steps())
      numbers = loadShared(state + lane.piece * geometry().pitch() +
                           stepOf(i) * kRecurrentStepBytes + lane.quarter * 16);
    return numbers;
  }

  METHOD void compute(int step) {
    Sums<T> sums = {};
    const u32 state = stateAt(step % 2);
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (i < geometry().own())
        addProducts(sums, held[i], loadState(state, i));
    for (int i = kHeld; i < geometry().own(); ++i) {
      const u32x4 numbers = loadState(state, i);
#pragma unroll
      for (int number = 0; number < kMatrices; ++number) {
        const bool isFirst = number < kTiles<T>;
        const u32x4 four = loadShared(factorsAt(i - kHeld) + number * 512);
        const u32 matrix[4] = {four.x, four.y, four.z, four.w};
        addProduct<T>(sums.tiles[number % kTiles<T>], matrix, isFirst ? numbers.x : numbers.z,
                      isFirst ? numbers.y : numbers.w);
      }
    }
    constexpr int kDistance = tileOf<T>().sumBytes() / sizeof(float);
    float *const all = (float *)(shared + sumsPlace());
    storeSums(all + warp * kDistance, sums, rows, lane);
    sync();

    T *const part = (T *)(shared + partPlace());
#pragma unroll
    for (int i = 0; i < kRecurrentMostStates; ++i) {
      if (!isActive(i))
        continue;
      const int unit = unitOf(i), size = tileOf<T>().units(gates());
      float products[kMostGates];
      addSums<T>(products, layer, all + unit / size * kDistance, unit % size, rowOf(i),
                 geometry().parts(), layer.groups * kDistance);
      states[i] = nextState(layer, products, inputs[i], added[i], states[i]);
      // As the products read it.
      const T rounded = (T)states[i].hidden;
      states[i].hidden = (float)rounded;
      part[rowOf(i) * units() + unit] = rounded;
    }
    sync();
    const bool isLast = step == layer.steps - 1;
    if (!isLast)
      sendPart(step + 1);
    if (!isLast && layer.split > 1)
      arriveAtCluster();
#pragma unroll
    for (int i = 0; i < kRecurrentMostStates; ++i)
      if (isActive(i))
        y[indexOf(step) * layer.rows * layer.size + placeOf(i)] = (T)states[i].hidden;
    if (isLast)
      return;
    loadInputs(step + 1);
    if (layer.split > 1)
      waitForCluster();
    else
      sync();
  }

  /// Writes the block's part of the state into the buffer for `step` of every block.
  METHOD void sendPart(int step) const {
    const int pieces = units() / tileOf<T>().width(), all = kRecurrentRows * pieces;
    for (int i = threadId(); i < layer.split * all; i += layer.warps * 32) {
      const int to = i / all, row = i % all / pieces, piece = i % pieces;
      if (row >= rows || firstUnit() + piece * tileOf<T>().width() >= layer.size)
        continue;
      const u32x4 numbers =
          loadShared(sharedAddress(shared) + partPlace() + (row * pieces + piece) * 16);
      const u32 place =
          stateAt(step % 2) + row * geometry().pitch() + firstUnit() * sizeof(T) + piece * 16;
      if (layer.split > 1)
        storeCluster(place, to, numbers);
      else
        storeShared(place, numbers);
    }
  }
};

} // namespace

#define CONVOY_RECURRENT(T, name)                                                                  \
  LIBRARY void convoy_recurrent_##name(const T *given, const T *w, const T *bias, const T *hidden, \
                                       const T *cell, T *y, T *lastCell, Recurrent layer) {        \
    Sequences<T>(layer, given, bias, y).run(w, hidden, cell, lastCell);                            \
  }
CONVOY_RECURRENT(f16, f16)
CONVOY_RECURRENT(bf16, bf16)
CONVOY_RECURRENT(float, f32)
