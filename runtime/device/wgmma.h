// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wgmma, the tensor core instructions of sm_90a, which four warps execute together with both
// factors in shared memory.

#ifndef CONVOY_DEVICE_WGMMA_H
#define CONVOY_DEVICE_WGMMA_H

#include "device.h"

/// The descriptor of a factor: matrices of eight rows of 16 bytes, each 128 contiguous bytes (no
/// swizzle, K-major). `next` is the distance in bytes between the two matrices of a row of 32
/// bytes, `below` that between matrices of neighboring rows; both are multiples of 16.
DEVICE u64 factorAt(u32 address, int next, int below) {
  return (u64)(address >> 4 & 0x3fff) | (u64)(next >> 4) << 16 | (u64)(below >> 4) << 32;
}
/// The descriptor of a factor with the 128-byte swizzle: lines of 128 bytes, of which chunk i of 16
/// bytes of line j is at place i ^ j % 8, in matrices of eight lines, 1024 bytes. A line is a row
/// or a column of the factor (K-major), or 64 numbers of one k (MN-major). `next` is the distance
/// in bytes between slabs of 64 numbers if it is MN-major. The address of the first line is a
/// multiple of 1024.
DEVICE u64 swizzledFactorAt(u32 address, int next) {
  return factorAt(address, next, 1024) | 1ull << 62;
}
/// The descriptor of a factor at an offset of `bytes`, a multiple of 16.
DEVICE u64 further(u64 factor, int bytes) {
  return (factor & ~0xffffffffull) | ((u32)factor + (bytes >> 4));
}

/// Hides from the compiler that `value` is loop-invariant: values computed from it are recomputed
/// in each iteration and occupy no registers in between. For a factor the compiler must know that
/// it is uniform over all lanes, which the result of a shuffle is.
DEVICE u32 again(u32 value) {
  asm volatile("" : "+r"(value));
  return value;
}
/// 0, written where it is called.
DEVICE u32 zero() {
  u32 number;
  asm volatile("mov.b32 %0, 0;" : "=r"(number));
  return number;
}
DEVICE u64 again(u64 value) {
  return (u64)(u32)(value >> 32) << 32 | shuffle(again((u32)value), 0);
}

DEVICE void fenceProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `pending` of the most recent groups are in flight.
template <int pending> DEVICE void waitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Makes this thread's writes to shared memory visible to tensor cores. Call before the barrier.
DEVICE void fenceFactors() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// Keeps the compiler from reading sums before the wait for the products that are added to them.
template <int count> DEVICE void take(float (&sums)[count][4]) {
#pragma unroll
  for (auto &four : sums)
#pragma unroll
    for (float &sum : four)
      asm volatile("" : "+f"(sum)::"memory");
}
/// Keeps the compiler from writing sums and factors in registers after the fence.
template <int count> DEVICE void settle(float (&sums)[count][4]) { take(sums); }
template <int count> DEVICE void settle(u32 (&factors)[count][4]) {
#pragma unroll
  for (auto &four : factors)
#pragma unroll
    for (u32 &pair : four)
      asm volatile("" : "+r"(pair)::"memory");
}

/// Starts to prefetch `bytes`, a multiple of 16, into the L2 cache.
DEVICE void prefetch(const void *from, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

/// `start` starts the product of 64 rows of 32 bytes of `a` and `columns` columns of 32 bytes of
/// `b`. It is added to the sums, or to zeros if it is the `first`. The sums are distributed over
/// four warps: warp i has the rows from 16 * i on, distributed as in mma.m16n8k16 and mma.m16n8k8.
template <typename T, int columns> struct Products;

#define CONVOY_PLACES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define CONVOY_PLACES_64                                                                           \
  CONVOY_PLACES_32                                                                                 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CONVOY_PLACES_72 CONVOY_PLACES_64 ", %32, %33, %34, %35"
#define CONVOY_PLACES_80 CONVOY_PLACES_72 ", %36, %37, %38, %39"
#define CONVOY_PLACES_88 CONVOY_PLACES_80 ", %40, %41, %42, %43"
#define CONVOY_PLACES_96 CONVOY_PLACES_88 ", %44, %45, %46, %47"
#define CONVOY_PLACES_104 CONVOY_PLACES_96 ", %48, %49, %50, %51"
#define CONVOY_PLACES_112 CONVOY_PLACES_104 ", %52, %53, %54, %55"
#define CONVOY_PLACES_120 CONVOY_PLACES_112 ", %56, %57, %58, %59"
#define CONVOY_PLACES_128 CONVOY_PLACES_120 ", %60, %61, %62, %63"
#define CONVOY_PLACES_136 CONVOY_PLACES_128 ", %64, %65, %66, %67"
#define CONVOY_PLACES_144 CONVOY_PLACES_136 ", %68, %69, %70, %71"
#define CONVOY_PLACES_152 CONVOY_PLACES_144 ", %72, %73, %74, %75"
#define CONVOY_PLACES_160 CONVOY_PLACES_152 ", %76, %77, %78, %79"
#define CONVOY_PLACES_168 CONVOY_PLACES_160 ", %80, %81, %82, %83"
#define CONVOY_PLACES_176 CONVOY_PLACES_168 ", %84, %85, %86, %87"
#define CONVOY_PLACES_184 CONVOY_PLACES_176 ", %88, %89, %90, %91"
#define CONVOY_PLACES_192 CONVOY_PLACES_184 ", %92, %93, %94, %95"
#define CONVOY_PLACES_200 CONVOY_PLACES_192 ", %96, %97, %98, %99"
#define CONVOY_PLACES_208 CONVOY_PLACES_200 ", %100, %101, %102, %103"
#define CONVOY_PLACES_216 CONVOY_PLACES_208 ", %104, %105, %106, %107"
#define CONVOY_PLACES_224 CONVOY_PLACES_216 ", %108, %109, %110, %111"
#define CONVOY_PLACES_232 CONVOY_PLACES_224 ", %112, %113, %114, %115"
#define CONVOY_PLACES_256                                                                          \
  CONVOY_PLACES_232                                                                                \
  ", %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define CONVOY_SUMS_8(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define CONVOY_SUMS_16(i) CONVOY_SUMS_8(i), CONVOY_SUMS_8(i + 1)
#define CONVOY_SUMS_32 CONVOY_SUMS_16(0), CONVOY_SUMS_16(2)
#define CONVOY_SUMS_64 CONVOY_SUMS_32, CONVOY_SUMS_16(4), CONVOY_SUMS_16(6)
#define CONVOY_SUMS_72 CONVOY_SUMS_64, CONVOY_SUMS_8(8)
#define CONVOY_SUMS_80 CONVOY_SUMS_72, CONVOY_SUMS_8(9)
#define CONVOY_SUMS_88 CONVOY_SUMS_80, CONVOY_SUMS_8(10)
#define CONVOY_SUMS_96 CONVOY_SUMS_88, CONVOY_SUMS_8(11)
#define CONVOY_SUMS_104 CONVOY_SUMS_96, CONVOY_SUMS_8(12)
#define CONVOY_SUMS_112 CONVOY_SUMS_104, CONVOY_SUMS_8(13)
#define CONVOY_SUMS_120 CONVOY_SUMS_112, CONVOY_SUMS_8(14)
#define CONVOY_SUMS_128 CONVOY_SUMS_120, CONVOY_SUMS_8(15)
#define CONVOY_SUMS_136 CONVOY_SUMS_128, CONVOY_SUMS_8(16)
#define CONVOY_SUMS_144 CONVOY_SUMS_136, CONVOY_SUMS_8(17)
#define CONVOY_SUMS_152 CONVOY_SUMS_144, CONVOY_SUMS_8(18)
#define CONVOY_SUMS_160 CONVOY_SUMS_152, CONVOY_SUMS_8(19)
#define CONVOY_SUMS_168 CONVOY_SUMS_160, CONVOY_SUMS_8(20)
#define CONVOY_SUMS_176 CONVOY_SUMS_168, CONVOY_SUMS_8(21)
#define CONVOY_SUMS_184 CONVOY_SUMS_176, CONVOY_SUMS_8(22)
#define CONVOY_SUMS_192 CONVOY_SUMS_184, CONVOY_SUMS_8(23)
#define CONVOY_SUMS_200 CONVOY_SUMS_192, CONVOY_SUMS_8(24)
#define CONVOY_SUMS_208 CONVOY_SUMS_200, CONVOY_SUMS_8(25)
#define CONVOY_SUMS_216 CONVOY_SUMS_208, CONVOY_SUMS_8(26)
#define CONVOY_SUMS_224 CONVOY_SUMS_216, CONVOY_SUMS_8(27)
#define CONVOY_SUMS_232 CONVOY_SUMS_224, CONVOY_SUMS_8(28)
#define CONVOY_SUMS_256 CONVOY_SUMS_232, CONVOY_SUMS_16(29), CONVOY_SUMS_8(31)
#define CONVOY_PRODUCTS_OF(Name, T, columns, shape, types, order)                                  \
  template <> struct Name<T, columns> {                                                            \
    DEVICE void start(float (&sums)[columns / 8][4], u64 a, u64 b, bool first) {                   \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.b32 p, %[first], 0;\n\t"                         \
                   "wgmma.mma_async.sync.aligned.m64n" #columns shape ".f32." types                \
                   " {" CONVOY_PLACES_##columns "}, %[a], %[b], p, 1, 1" order ";\n\t}"            \
                   : CONVOY_SUMS_##columns                                                         \
                   : [a] "l"(a), [b] "l"(b), [first] "r"((int)first));                             \
    }                                                                                              \
  }
#define CONVOY_PRODUCTS(T, shape, types, order)                                                    \
  CONVOY_PRODUCTS_OF(Products, T, 32, shape, types, order);                                        \
  CONVOY_PRODUCTS_OF(Products, T, 64, shape, types, order);                                        \
  CONVOY_PRODUCTS_OF(Products, T, 80, shape, types, order);                                        \
  CONVOY_PRODUCTS_OF(Products, T, 88, shape, types, order);                                        \
  CONVOY_PRODUCTS_OF(Products, T, 96, shape, types, order);                                        \
  CONVOY_PRODUCTS_OF(Products, T, 104, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 112, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 120, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 128, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 176, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 192, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 232, shape, types, order);                                       \
  CONVOY_PRODUCTS_OF(Products, T, 256, shape, types, order)
// Only 16-bit types have transpose flags; 0 is K-major.
CONVOY_PRODUCTS(f16, "k16", "f16.f16", ", 0, 0");
CONVOY_PRODUCTS(bf16, "k16", "bf16.bf16", ", 0, 0");
CONVOY_PRODUCTS(float, "k8", "tf32.tf32", "");

/// Like Products, with 16 rows of `b` in memory, each of contiguous columns (MN-major).
template <typename T, int columns> struct ProductsOfRows;
#define CONVOY_PRODUCTS_OF_ROWS(T, types)                                                          \
  CONVOY_PRODUCTS_OF(ProductsOfRows, T, 64, "k16", types, ", 0, 1");                               \
  CONVOY_PRODUCTS_OF(ProductsOfRows, T, 96, "k16", types, ", 0, 1");                               \
  CONVOY_PRODUCTS_OF(ProductsOfRows, T, 128, "k16", types, ", 0, 1");                              \
  CONVOY_PRODUCTS_OF(ProductsOfRows, T, 192, "k16", types, ", 0, 1");                              \
  CONVOY_PRODUCTS_OF(ProductsOfRows, T, 256, "k16", types, ", 0, 1")
CONVOY_PRODUCTS_OF_ROWS(f16, "f16.f16");
CONVOY_PRODUCTS_OF_ROWS(bf16, "bf16.bf16");

/// Like ProductsOfRows, with `a` in registers: each warp has its 16 rows, distributed as in
/// mma.m16n8k16. The product is always added to the sums.
template <typename T, int columns> struct ProductsFromRegisters;
#define CONVOY_PRODUCTS_FROM_REGISTERS_OF(T, columns, types)                                       \
  template <> struct ProductsFromRegisters<T, columns> {                                           \
    DEVICE void start(float (&sums)[columns / 8][4], const u32 (&a)[4], u64 b) {                   \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." types                   \
                   " {" CONVOY_PLACES_##columns                                                    \
                   "}, {%[a0], %[a1], %[a2], %[a3]}, %[b], 1, 1, 1, 1;"                            \
                   : CONVOY_SUMS_##columns                                                         \
                   : [a0] "r"(a[0]), [a1] "r"(a[1]), [a2] "r"(a[2]), [a3] "r"(a[3]), [b] "l"(b));  \
    }                                                                                              \
  }
#define CONVOY_PRODUCTS_FROM_REGISTERS(T, types)                                                   \
  CONVOY_PRODUCTS_FROM_REGISTERS_OF(T, 32, types);                                                 \
  CONVOY_PRODUCTS_FROM_REGISTERS_OF(T, 64, types);                                                 \
  CONVOY_PRODUCTS_FROM_REGISTERS_OF(T, 96, types);                                                 \
  CONVOY_PRODUCTS_FROM_REGISTERS_OF(T, 128, types)
CONVOY_PRODUCTS_FROM_REGISTERS(f16, "f16.f16");
CONVOY_PRODUCTS_FROM_REGISTERS(bf16, "bf16.bf16");

#endif // CONVOY_DEVICE_WGMMA_H
