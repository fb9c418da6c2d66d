// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Takes the place of runtime/device/device.h: the instructions that recurrent.h, product.h, stem.cu
// and the kernels for attention use, on the host. Every thread of a grid is a fiber (grid.cpp).
// Addresses of shared memory are offsets.

#ifndef CONVOY_EMULATION_DEVICE_H
#define CONVOY_EMULATION_DEVICE_H

#include "kernel_abi.h"
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unistd.h>

using namespace convoy::device;

#define DEVICE static inline __attribute__((unused))
#define METHOD
#define LIBRARY extern "C"

using u32 = unsigned;
using u64 = unsigned long long;
using f16 = _Float16;
using bf16 = __bf16;

struct alignas(8) u32x2 {
  u32 x, y;
};
struct alignas(16) u32x4 {
  u32 x, y, z, w;
};
template <typename T, int count> struct Vector {
  typedef T Of __attribute__((ext_vector_type(count),
                              aligned(sizeof(T) * count < 16 ? sizeof(T) * count : 16)));
};
template <typename T, int count> using Elements = typename Vector<T, count>::Of;
using Floats = Elements<float, 4>;

/// The shared memory of block `rank` of the running fiber's cluster; that of its own block if
/// negative. Stops the process if 16 bytes at `address` are not inside, or not aligned.
char *sharedMemory(int rank, u32 address);
#define shared sharedMemory(-1, 0)

u32 threadId();
u32 blockId();
void syncBlock();
void arriveAtCluster();
void waitForCluster();
void syncWarp();
/// For each of four matrices, the address that the lane of this lane's row has: lane i has that of
/// row i % 8 of matrix i / 8.
void shareRows(u32 address, u32 (&rows)[4]);
/// Like shareRows, the addresses of the rows 2 * i and 2 * i + 1 of lane i modulo 4.
void shareTwoRows(u32 address, u32 (&rows)[4][2]);
/// The value of lane `lane` of the four that this lane is one of.
u32 laneOfFour(u32 value, int lane);
/// The value of the lane whose number differs in the bits of `distance`.
u32 exchange(u32 value, int distance);
/// What a warp multiplies in mma.m16n8k16 and mma.m16n8k8.
enum class Factor { F16, Bf16, Tf32 };
void multiplyWarp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, Factor factor);

// unistd.h has a function of this name.
#define sync syncBlock
DEVICE void syncCluster() {
  arriveAtCluster();
  waitForCluster();
}

DEVICE u32 sharedAddress(const void *pointer) {
  return static_cast<u32>(static_cast<const char *>(pointer) - shared);
}
DEVICE char *sharedPointer(u32 address) { return shared + address; }
DEVICE u32x4 loadShared(u32 address) {
  u32x4 four;
  std::memcpy(&four, sharedMemory(-1, address), sizeof four);
  return four;
}
DEVICE void storeShared(u32 address, u32x4 four) {
  std::memcpy(sharedMemory(-1, address), &four, sizeof four);
}
DEVICE u32 loadWord(u32 address) {
  u32 word;
  std::memcpy(&word, sharedMemory(-1, address & ~15U) + address % 16, sizeof word);
  return word;
}
DEVICE u32x2 loadTwo(u32 address) { return {loadWord(address), loadWord(address + 4)}; }
DEVICE u32 hidden(u32 number) { return number; }
DEVICE void loadMatrices(u32 (&to)[4], u32 address) {
  u32 rows[4];
  shareRows(address, rows);
  for (int i = 0; i < 4; ++i)
    to[i] = loadWord(rows[i] + threadId() % 4 * 4);
}
DEVICE void loadTransposed(u32 (&to)[4], u32 address) {
  u32 rows[4][2];
  shareTwoRows(address, rows);
  const u32 column = threadId() % 32 / 4;
  for (int i = 0; i < 4; ++i)
    for (int half = 0; half < 2; ++half)
      std::memcpy(reinterpret_cast<char *>(&to[i]) + half * 2,
                  sharedMemory(-1, rows[i][half]) + column * 2, 2);
}
DEVICE void storeMatrices(u32 address, const u32 (&from)[4]) {
  u32 rows[4];
  shareRows(address, rows);
  for (int i = 0; i < 4; ++i)
    std::memcpy(sharedMemory(-1, rows[i]) + threadId() % 4 * 4, &from[i], sizeof from[i]);
}
/// Copies are complete at once.
DEVICE void copyAsync(u32 to, const void *from, bool inside) {
  if (inside)
    std::memcpy(sharedMemory(-1, to), from, 16);
  else
    std::memset(sharedMemory(-1, to), 0, 16);
}
DEVICE void copyQuadAsync(u32 to, const void *from, bool inside) {
  char *const place = sharedMemory(-1, to & ~15U) + to % 16;
  if (inside)
    std::memcpy(place, from, 8);
  else
    std::memset(place, 0, 8);
}
DEVICE void commitCopies() {}
template <int pending> DEVICE void waitCopies() {}
/// Of a value that all lanes have.
DEVICE u32 shuffle(u32 value, int) { return value; }
DEVICE float shuffleXor(float value, int distance) {
  return __builtin_bit_cast(float, exchange(__builtin_bit_cast(u32, value), distance));
}
DEVICE void storeCluster(u32 address, u32 rank, u32x4 four) {
  std::memcpy(sharedMemory(static_cast<int>(rank), address), &four, sizeof four);
}

template <typename T> struct Element {
  static void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    multiplyWarp(c, a, b0, b1,
                 sizeof(T) == 4           ? Factor::Tf32
                 : __is_same(T, _Float16) ? Factor::F16
                                          : Factor::Bf16);
  }
  using Pair = std::conditional_t<sizeof(T) == 4, u32x2, u32>;
  static Pair pack(float low, float high) {
    T both[2] = {(T)low, (T)high};
    Pair pair;
    std::memcpy(&pair, both, sizeof pair);
    return pair;
  }
  static void unpack(Pair pair, float &low, float &high) {
    T both[2];
    std::memcpy(both, &pair, sizeof pair);
    low = (float)both[0];
    high = (float)both[1];
  }
  /// To TF32, with ties away from zero.
  static u32 round(u32 one) { return (one + 0x1000) & ~0x1fffU; }
};

/// Elementwise; NaN if one of both is.
template <typename T, typename Word> DEVICE Word max(Word a, Word b) {
  constexpr size_t count = sizeof(Word) / sizeof(T);
  T left[count], right[count];
  std::memcpy(left, &a, sizeof a);
  std::memcpy(right, &b, sizeof b);
  for (size_t i = 0; i < count; ++i)
    if (!(left[i] >= right[i]) && left[i] == left[i])
      left[i] = right[i];
  std::memcpy(&a, left, sizeof a);
  return a;
}
DEVICE float clamp(float value, float lower, float upper) {
  return value < lower ? lower : value > upper ? upper : value;
}
template <typename T> DEVICE Floats loadFloats(const T *from) {
  return {(float)from[0], (float)from[1], (float)from[2], (float)from[3]};
}
template <typename T> DEVICE void storeFour(T *to, Floats four) {
  for (int i = 0; i < 4; ++i)
    to[i] = (T)four[i];
}
template <typename T> DEVICE Floats toFactors(Floats four) {
  if (sizeof(T) == 2)
    return four;
  auto round = [](float one) {
    return __builtin_bit_cast(float, Element<T>::round(__builtin_bit_cast(u32, one)));
  };
  return {round(four.x), round(four.y), round(four.z), round(four.w)};
}

DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE float exp2(float value) { return ::exp2f(value); }
DEVICE float log2(float value) { return ::log2f(value); }
DEVICE float reciprocal(float value) { return 1 / value; }

#endif // CONVOY_EMULATION_DEVICE_H
