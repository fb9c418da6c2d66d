// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tensor memory accelerator of sm_90, which copies boxes of tensors to shared memory, and the
// barriers in shared memory that count the copied bytes. A kernel with these copies has a producer
// thread that fills a ring of slots, and groups of consumers that free them.

#ifndef CONVOY_DEVICE_TMA_H
#define CONVOY_DEVICE_TMA_H

#include "device.h"

//===-- barriers -----------------------------------------------------------===//

/// Initializes the barrier at `address`: each of its phases needs `arrivals`.
DEVICE void initBarrier(u32 address, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
}
/// Makes initialized barriers visible to the cluster and to copies. Call before a barrier of all
/// threads.
DEVICE void fenceBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Waits until the phase of this parity is complete. A new barrier counts as if the phase of parity
/// 1 were.
DEVICE void waitBarrier(u32 address, u32 parity) {
  asm volatile("{\n\t.reg .pred p;\n"
               "wait_%=:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
               "@!p bra wait_%=;\n\t}" ::"r"(address),
               "r"(parity)
               : "memory");
}
/// Arrives at a barrier, whose phase is complete when `bytes` have been copied as well.
DEVICE void arriveWithBytes(u32 address, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
               : "memory");
}
DEVICE void arrive(u32 address) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
}

//===-- turns --------------------------------------------------------------===//

/// Two groups of four warps take turns. A group waits for its turn; the other one gives it.
DEVICE void waitForTurn(u32 group) { __nvvm_barrier_sync_cnt(group + 1, 2 * kGroupThreads); }
DEVICE void giveTurn(u32 group) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(group + 1), "n"(2 * kGroupThreads) : "memory");
}

//===-- copies -------------------------------------------------------------===//

/// An argument of a kernel that describes a tensor and its boxes (CUtensorMap of the driver).
using TensorMap = const void *;

/// Starts the copy of the box at these coordinates of a matrix; elements outside of the matrix are
/// zeros. Its bytes count at `barrier`.
DEVICE void copyBox(u32 to, TensorMap map, int column, int row, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}
/// The same for a tensor of three dims.
DEVICE void copyBox(u32 to, TensorMap map, int column, int row, int plane, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
               "l"(map), "r"(column), "r"(row), "r"(plane), "r"(barrier)
               : "memory");
}
/// Starts to copy channels of the pixels at these offsets from the first pixels of windows. The
/// coordinates are those of the first window; the others follow in the map's bounds and strides.
DEVICE void copyWindows(u32 to, TensorMap map, int channel, int column, int row, int image,
                        int columnOffset, int rowOffset, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5}], [%8], {%6, %7};" ::"r"(to),
               "l"(map), "r"(channel), "r"(column), "r"(row), "r"(image), "h"((short)columnOffset),
               "h"((short)rowOffset), "r"(barrier)
               : "memory");
}
/// The same for three spatial dims.
DEVICE void copyWindows(u32 to, TensorMap map, int channel, int column, int row, int plane,
                        int image, int columnOffset, int rowOffset, int planeOffset, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5, %6}], [%10], {%7, %8, %9};" ::"r"(to),
               "l"(map), "r"(channel), "r"(column), "r"(row), "r"(plane), "r"(image),
               "h"((short)columnOffset), "h"((short)rowOffset), "h"((short)planeOffset),
               "r"(barrier)
               : "memory");
}

/// A position in a ring of slots, and the parity of the barriers' phase there. The number of slots
/// and the counts are constants.
struct RingPlace {
  u32 slot = 0, parity = 0;

  METHOD void advance(u32 count, u32 slots) {
    slot += count % slots;
    parity ^= count / slots & 1;
    if (slot >= slots) {
      slot -= slots;
      parity ^= 1;
    }
  }
};

#endif // CONVOY_DEVICE_TMA_H
