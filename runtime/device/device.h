// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GPU instructions as functions, for the kernel library; LLVM has no portable intrinsics for them.
// Uses no CUDA headers.

#ifndef CONVOY_DEVICE_H
#define CONVOY_DEVICE_H

#include "kernel_abi.h"

using namespace convoy::device;

#define DEVICE static inline __attribute__((device, always_inline))
/// Like DEVICE, for member functions.
#define METHOD __attribute__((device, always_inline))
/// A function of the kernel library. Its last argument, a struct of kernel_abi.h, is constant at
/// every call, so that inlining specializes each kernel for its shape.
#define LIBRARY extern "C" __attribute__((device, always_inline))

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
/// A vector of `count` elements, aligned to its size but at most 16 bytes.
template <typename T, int count> struct Vector {
  typedef T Of __attribute__((ext_vector_type(count),
                              aligned(sizeof(T) * count < 16 ? sizeof(T) * count : 16)));
};
template <typename T, int count> using Elements = typename Vector<T, count>::Of;
using Floats = Elements<float, 4>;

/// The dynamic shared memory of a kernel.
extern __attribute__((shared, aligned(128))) char shared[];

DEVICE u32 threadId() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 blockId() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE void sync() { __nvvm_barrier_sync(0); }
/// A barrier of the 128 threads of group number `group`.
DEVICE void syncGroup(u32 group) { __nvvm_barrier_sync_cnt(group + 1, kGroupThreads); }
DEVICE void syncWarp() { __nvvm_bar_warp_sync(~0u); }
DEVICE u32 sharedAddress(const void *pointer) {
  return (u32)(u64)(__attribute__((address_space(3))) const void *)pointer;
}
/// The inverse of sharedAddress. `shared` plus the difference of two addresses is the same pointer,
/// but the difference may become a constant expression, on which LLVM's SeparateConstOffsetFromGEP
/// crashes.
DEVICE char *sharedPointer(u32 address) {
  return (char *)(__attribute__((address_space(3))) char *)(u64)address;
}
/// The `value` of the lane whose number differs in the bit `distance`.
DEVICE float shuffleXor(float value, int distance) {
  return __nvvm_shfl_sync_bfly_f32(~0u, value, distance, 31);
}
DEVICE u32 shuffleXor(u32 value, int distance) {
  return __nvvm_shfl_sync_bfly_i32(~0u, value, distance, 31);
}
DEVICE u32x2 shuffleXor(u32x2 value, int distance) {
  return {shuffleXor(value.x, distance), shuffleXor(value.y, distance)};
}
/// The `value` of lane `lane` modulo 32.
DEVICE u32 shuffle(u32 value, int lane) { return __nvvm_shfl_sync_idx_i32(~0u, value, lane, 31); }
DEVICE u32x2 shuffle(u32x2 value, int lane) {
  return {shuffle(value.x, lane), shuffle(value.y, lane)};
}

/// The same number, about which the compiler knows nothing.
DEVICE u32 hidden(u32 number) {
  asm volatile("" : "+r"(number));
  return number;
}

//===-- copies -------------------------------------------------------------===//

/// Starts an asynchronous copy of 16 bytes to shared memory. If not `inside`, writes zeros and
/// reads nothing.
DEVICE void copyAsync(u32 to, const void *from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
/// Like copyAsync, of 8 bytes.
DEVICE void copyQuadAsync(u32 to, const void *from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from),
               "r"(inside ? 8 : 0)
               : "memory");
}
DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `pending` of the most recent groups are in flight.
template <int pending> DEVICE void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Loads 16 bytes at an address of shared memory.
DEVICE u32x4 loadShared(u32 address) {
  u32x4 four;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
               : "r"(address)
               : "memory");
  return four;
}

/// Loads 8 bytes at an address of shared memory.
DEVICE u32x2 loadTwo(u32 address) {
  u32x2 two;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(two.x), "=r"(two.y)
               : "r"(address)
               : "memory");
  return two;
}

/// Stores 16 bytes at an address of shared memory.
DEVICE void storeShared(u32 address, u32x4 four) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(four.x), "r"(four.y),
               "r"(four.z), "r"(four.w)
               : "memory");
}

DEVICE u32 loadWord(u32 address) {
  u32 word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}

/// Sets bits of a word of shared memory.
DEVICE void atomicOr(u32 address, u32 bits) {
  asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(address), "r"(bits) : "memory");
}

//===-- clusters -----------------------------------------------------------===//

DEVICE void syncCluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
/// The two parts of syncCluster.
DEVICE void arriveAtCluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
DEVICE void waitForCluster() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/// Stores 16 bytes at `address` of the shared memory of block `rank` of the cluster.
DEVICE void storeCluster(u32 address, u32 rank, u32x4 four) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(four.x),
               "r"(four.y), "r"(four.z), "r"(four.w)
               : "memory");
}
/// Loads four floats at `address` of the shared memory of block `rank` of the cluster.
DEVICE Floats loadCluster(u32 address, u32 rank) {
  u32 there;
  Floats value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(there)
               : "memory");
  return value;
}

//===-- tensor cores -------------------------------------------------------===//

/// Loads four matrices of eight rows of 16 bytes; lane i has the address of row i % 8 of matrix
/// i / 8.
DEVICE void loadMatrices(u32 (&to)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// Like loadMatrices, but transposes each matrix.
DEVICE void loadTransposed(u32 (&to)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// Stores four matrices of eight rows of 16 bytes, as loadMatrices loads them; needs sm_90.
DEVICE void storeMatrices(u32 address, const u32 (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

/// Operations per element type. `multiply` adds the product of a matrix of 16 rows of 32 bytes and
/// a matrix of 8 columns of 32 bytes to a matrix of floats, distributed over a warp as in
/// mma.m16n8k16 and mma.m16n8k8. Products of 16-bit floats are exact; f32 factors must be rounded
/// to TF32 with `round`. `pack` rounds two floats to nearest even. `max` is elementwise and
/// propagates NaN. `kExponent` are the bits that are all set in infinities and NaN.
template <typename T> struct Element;

#define CONVOY_ELEMENT(T, name, exponent)                                                          \
  template <> struct Element<T> {                                                                  \
    using Pair = u32;                                                                              \
    static constexpr u32 kExponent = exponent;                                                     \
    DEVICE void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {                       \
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name                          \
                   ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                           \
                   "{%0, %1, %2, %3};"                                                             \
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                \
    }                                                                                              \
    DEVICE u32 round(u32 both) { return both; }                                                    \
    DEVICE Pair pack(float low, float high) {                                                      \
      u32 both;                                                                                    \
      asm("cvt.rn." name "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));                 \
      return both;                                                                                 \
    }                                                                                              \
    DEVICE void unpack(Pair both, float &low, float &high) {                                       \
      struct alignas(4) Two {                                                                      \
        T low, high;                                                                               \
      } two = __builtin_bit_cast(Two, both);                                                       \
      low = (float)two.low;                                                                        \
      high = (float)two.high;                                                                      \
    }                                                                                              \
    DEVICE u32 max(u32 a, u32 b) {                                                                 \
      u32 larger;                                                                                  \
      asm("max.NaN." name "x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));                       \
      return larger;                                                                               \
    }                                                                                              \
  }
CONVOY_ELEMENT(f16, "f16", 0x7c00);
CONVOY_ELEMENT(bf16, "bf16", 0x7f80);
#undef CONVOY_ELEMENT

template <> struct Element<float> {
  using Pair = u32x2;
  static constexpr u32 kExponent = 0x7f800000;
  DEVICE void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, "
                 "%6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  DEVICE u32 round(u32 one) { return (u32)__nvvm_f2tf32_rna(__builtin_bit_cast(float, one)); }
  DEVICE Pair pack(float low, float high) {
    return {__builtin_bit_cast(u32, low), __builtin_bit_cast(u32, high)};
  }
  DEVICE void unpack(Pair both, float &low, float &high) {
    low = __builtin_bit_cast(float, both.x);
    high = __builtin_bit_cast(float, both.y);
  }
  DEVICE u32 max(u32 a, u32 b) {
    u32 larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
    return larger;
  }
};

template <typename T> DEVICE void round(u32 (&matrices)[4]) {
#pragma unroll
  for (u32 &each : matrices)
    each = Element<T>::round(each);
}
template <typename T> DEVICE u32x4 round(u32x4 four) {
  return {Element<T>::round(four.x), Element<T>::round(four.y), Element<T>::round(four.z),
          Element<T>::round(four.w)};
}
template <typename T> DEVICE u32 max(u32 a, u32 b) { return Element<T>::max(a, b); }
template <typename T> DEVICE u32x2 max(u32x2 a, u32x2 b) {
  return {Element<T>::max(a.x, b.x), Element<T>::max(a.y, b.y)};
}
template <typename T> DEVICE u32x4 max(u32x4 a, u32x4 b) {
  return {Element<T>::max(a.x, b.x), Element<T>::max(a.y, b.y), Element<T>::max(a.z, b.z),
          Element<T>::max(a.w, b.w)};
}

//===-- numbers ------------------------------------------------------------===//

DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
/// Clamps `value` to bounds, which may be infinite. NaN stays NaN.
DEVICE float clamp(float value, float lower, float upper) {
  if (lower != -__builtin_inff())
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(value), "f"(lower));
  if (upper != __builtin_inff())
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(value), "f"(upper));
  return value;
}
/// 2^value and 1 / value with relative errors of 2^-22 and 2^-23. Subnormal numbers are 0, without
/// which each takes four more instructions.
DEVICE float exp2(float value) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
  return power;
}
DEVICE float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// log2(value) with an absolute error of 2^-22.
DEVICE float log2(float value) {
  float result;
  asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

template <typename T> DEVICE Elements<T, 4> loadFour(const T *from) {
  return *(const Elements<T, 4> *)from;
}
template <typename T> DEVICE Floats loadFloats(const T *from) {
  return __builtin_convertvector(loadFour(from), Floats);
}
template <typename T> DEVICE void storeFour(T *to, Floats four) {
  *(Elements<T, 4> *)to = __builtin_convertvector(four, Elements<T, 4>);
}
/// Rounds f32 to TF32; conversion to a 16-bit `T` rounds later.
template <typename T> DEVICE Floats toFactors(Floats four) {
  if (sizeof(T) == 2)
    return four;
  auto round = [](float one) {
    return __builtin_bit_cast(float, Element<T>::round(__builtin_bit_cast(u32, one)));
  };
  return {round(four.x), round(four.y), round(four.z), round(four.w)};
}

#endif // CONVOY_DEVICE_H
