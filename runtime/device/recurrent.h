// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A step of a recurrent layer, shared by its kernels: products of the hidden states of eight
// sequences with groups of columns of w, and what the gates compute from them.

#ifndef CONVOY_RECURRENT_H
#define CONVOY_RECURRENT_H

#include "device.h"

/// given[t, n, g * size + h] are the products of the inputs, w[k, g * size + h] the weights, for
/// gate g. Rows of the state are a multiple of 16 bytes.
using Recurrent = RecurrentArguments;

constexpr int kMostGates = 4;
DEVICE int gatesOf(const Recurrent &layer) {
  return layer.mode == kLstm ? 4 : layer.mode == kGru ? 3 : 1;
}

/// Elements of a row of w in 16 bytes, which are columns of a group; tiles of 16 columns.
template <typename T> constexpr RecurrentTile tileOf() { return {sizeof(T)}; }
template <typename T> constexpr int kTiles = tileOf<T>().width() / 2;

/// Factors of mma that a lane has of a step of a group: four registers for each tile of 16 columns
/// and 16 or 8 rows. Lane l has the 16 bytes of columns number l / 4 of the group, in rows of w
/// that are those of the 16 bytes number l % 4 of a step of the state. So nothing has to be
/// transposed but pairs of 16-bit numbers.
template <typename T> struct Factors {
  static constexpr int kMatrices = tileOf<T>().registers() / 4;
  u32 matrices[kMatrices][4];
};

/// Places of a lane: `piece` is the number of its 16 bytes of columns, or its sequence; `quarter`
/// that of its 16 bytes of a step.
struct Lane {
  int piece, quarter;
};
DEVICE Lane ownLane() { return {(int)(threadId() % 32 / 4), (int)(threadId() % 4)}; }

/// The first column of w of a lane in group `group`; -1 if it has none.
template <typename T> DEVICE int columnOf(const Recurrent &layer, int group, Lane lane) {
  const int gates = gatesOf(layer), each = kRecurrentPieces / gates, gate = lane.piece / each,
            unit = group * tileOf<T>().units(gates) + lane.piece % each * tileOf<T>().width();
  return gate < gates && unit < layer.size ? gate * layer.size + unit : -1;
}

/// Loads the factors of step `step` of the sum; zeros beyond the last row and column.
template <typename T>
DEVICE Factors<T> loadFactors(const Recurrent &layer, const T *w, int column, int step, Lane lane) {
  constexpr int kRows = tileOf<T>().width() / 2;
  const int pitch = gatesOf(layer) * layer.size,
            first = step * tileOf<T>().step() + lane.quarter * 2 * kRows;
  const bool isInside = column >= 0 && first < layer.size;
  Factors<T> factors;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Elements<u32, 4> rows[kRows] = {};
    if (isInside)
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        rows[row] =
            *(const Elements<u32, 4> *)(w + ((first + half * kRows + row) * pitch + column));
    // The factors of column `element` in row or pair of rows number `k`.
    auto factor = [&](int k, int element) -> u32 {
      if constexpr (sizeof(T) == 4)
        return rows[k][element];
      const u32 low = rows[2 * k][element / 2], high = rows[2 * k + 1][element / 2];
      return element % 2 ? low >> 16 | (high & 0xffff0000) : (low & 0xffff) | high << 16;
    };
#pragma unroll
    for (int tile = 0; tile < kTiles<T>; ++tile) {
      u32(&matrix)[4] = factors.matrices[half * kTiles<T> + tile];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        matrix[i] = factor(i / 2, tile + i % 2 * kTiles<T>);
    }
  }
  return factors;
}

/// Sums of a lane: for the tiles of a group, those of two columns and two sequences, 2 * quarter
/// and the next one. The columns of tile i are i and i + kTiles of the lane's piece.
template <typename T> struct Sums {
  float tiles[kTiles<T>][4];
};

/// A number as the sum of two of TF32, whose products with those of another number have the
/// precision of f32.
struct TwoParts {
  u32 high, low;
};
DEVICE TwoParts inTwoParts(u32 number) {
  // The parts of numbers that stay in registers would be kept in further ones.
  asm volatile("" : "+r"(number));
  const u32 high = Element<float>::round(number);
  const float value = __builtin_bit_cast(float, number), main = __builtin_bit_cast(float, high);
  // The difference of infinities would be NaN.
  const float rest = value == main ? 0.0f : value - main;
  return {high, Element<float>::round(__builtin_bit_cast(u32, rest))};
}

/// Adds the product of a matrix of the lane's factors and two words of its sequence.
template <typename T>
DEVICE void addProduct(float (&sum)[4], const u32 (&matrix)[4], u32 first, u32 second) {
  if constexpr (sizeof(T) == 2) {
    Element<T>::multiply(sum, matrix, first, second);
  } else {
    u32 high[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const TwoParts parts = inTwoParts(matrix[i]);
      high[i] = parts.high;
      low[i] = parts.low;
    }
    const TwoParts one = inTwoParts(first), two = inTwoParts(second);
    Element<T>::multiply(sum, low, one.high, two.high);
    Element<T>::multiply(sum, high, one.low, two.low);
    Element<T>::multiply(sum, high, one.high, two.high);
  }
}

/// Adds the products of a step. `state` has the lane's 16 bytes of its sequence.
template <typename T>
DEVICE void addProducts(Sums<T> &sums, const Factors<T> &factors, u32x4 state) {
#pragma unroll
  for (int tile = 0; tile < kTiles<T>; ++tile)
    addProduct<T>(sums.tiles[tile], factors.matrices[tile], state.x, state.y);
#pragma unroll
  for (int tile = 0; tile < kTiles<T>; ++tile)
    addProduct<T>(sums.tiles[tile], factors.matrices[kTiles<T> + tile], state.z, state.w);
}

/// Stores the sums of a warp, of the first `rows` sequences, for `addSums`.
template <typename T> DEVICE void storeSums(float *to, const Sums<T> &sums, int rows, Lane lane) {
  constexpr int kPitch = tileOf<T>().pitch();
  float *own = to + 2 * lane.quarter * kPitch + lane.piece * tileOf<T>().width() + lane.piece / 4;
  if (2 * lane.quarter >= rows)
    return;
#pragma unroll
  for (int tile = 0; tile < kTiles<T>; ++tile)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      own[i % 2 * kPitch + i / 2 * kTiles<T> + tile] = sums.tiles[tile][i];
}

/// Adds the sums of `parts` warps, which are `distance` numbers apart, for each gate of state
/// number `unit` of a group and sequence `row`.
template <typename T>
DEVICE void addSums(float (&gates)[kMostGates], const Recurrent &layer, const float *sums, int unit,
                    int row, int parts, int distance) {
  constexpr int kWidth = tileOf<T>().width();
  const int count = gatesOf(layer), each = kRecurrentPieces / count;
#pragma unroll
  for (int gate = 0; gate < kMostGates; ++gate) {
    gates[gate] = 0;
    const int piece = gate * each + unit / kWidth;
    if (gate < count)
#pragma unroll
      for (int part = 0; part < parts; ++part)
        gates[gate] += sums[part * distance + row * tileOf<T>().pitch() + piece * kWidth +
                            piece / 4 + unit % kWidth];
  }
}

/// 1 / (1 + exp(-value)).
DEVICE float sigmoid(float value) { return reciprocal(1 + exp2(value * -1.44269504f)); }

/// tanh(value); near zero a polynomial, where the formula would subtract almost equal numbers.
DEVICE float tanh(float value) {
  const float size = __builtin_fabsf(value), square = value * value;
  const float near =
      value *
      (1 + square * (-0.33333334f +
                     square * (0.13333334f + square * (-0.05396825f + square * 0.02186949f))));
  const float far = __builtin_copysignf(1 - 2 * reciprocal(exp2(size * 2.88539008f) + 1), value);
  return size < 0.3f ? near : far;
}

/// A number of the state.
struct State {
  float hidden, cell;
};

/// The next state from the products of the state and of the inputs.
DEVICE State nextState(const Recurrent &layer, const float (&own)[kMostGates],
                       const float (&given)[kMostGates], float bias, State state) {
  const float sum = own[0] + given[0];
  switch (layer.mode) {
  case kLstm: {
    const float cell =
        sigmoid(own[1] + given[1]) * state.cell + sigmoid(sum) * tanh(own[2] + given[2]);
    return {sigmoid(own[3] + given[3]) * tanh(cell), cell};
  }
  case kGru: {
    const float fresh = tanh(given[2] + sigmoid(sum) * (own[2] + bias));
    return {fresh + sigmoid(own[1] + given[1]) * (state.hidden - fresh), 0};
  }
  case kRnnTanh:
    return {tanh(sum), 0};
  default:
    return {sum < 0 ? 0 : sum, 0};
  }
}

/// Loads the products of the inputs for a number of the state; `given` is that of the first gate.
template <typename T>
DEVICE void loadGiven(float (&gates)[kMostGates], const Recurrent &layer, const T *given) {
#pragma unroll
  for (int gate = 0; gate < kMostGates; ++gate)
    gates[gate] = gate < gatesOf(layer) ? (float)given[gate * layer.size] : 0;
}

#endif // CONVOY_RECURRENT_H
