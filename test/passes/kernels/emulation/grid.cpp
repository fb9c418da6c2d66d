// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "grid.h"
#include "tma.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>
#undef shared

namespace {

constexpr size_t kStackBytes = 32 << 10;

/// A barrier of a number of threads.
struct Barrier {
  int arrived = 0;
  unsigned phase = 0;

  /// Returns the phase that the thread has to see the end of.
  unsigned arrive(int threads) {
    unsigned before = phase;
    if (++arrived == threads) {
      arrived = 0;
      ++phase;
    }
    return before;
  }
};

/// An mbarrier: its phase is complete after all arrivals and all bytes.
struct CopyBarrier {
  int arrivals = 0, missing = 0;
  long bytes = 0;
  u32 phase = 0;

  void update() {
    if (missing != 0 || bytes != 0)
      return;
    missing = arrivals;
    phase ^= 1;
  }
};

struct Warp {
  Barrier barrier;
  u32 a[32][4], b[32][2];
  float c[32][4];
};

struct Block {
  std::vector<char> shared;
  std::vector<Warp> warps;
  Barrier barrier, turns[2];
  std::vector<Barrier> groups; ///< of four warps
  std::map<u32, CopyBarrier> copyBarriers;
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  int block = 0, thread = 0;
  /// What the fiber waits for, if it is set.
  std::function<bool()> condition;
  unsigned clusterPhase = 0;
  bool isDone = false;
};

struct Grid {
  int threads, cluster;
  const std::function<void()> *kernel;
  std::vector<Block> blocks;
  std::vector<Barrier> clusters;
  std::vector<Fiber> fibers;
  ucontext_t scheduler;
  Fiber *running = nullptr;

  Block &block() { return blocks[running->block]; }
  Barrier &clusterBarrier() { return clusters[running->block / cluster]; }
};

Grid *grid;

[[noreturn]] void stop(const char *reason) {
  std::fprintf(stderr, "%s\n", reason);
  std::exit(1);
}

void waitUntil(std::function<bool()> condition) {
  grid->running->condition = std::move(condition);
  swapcontext(&grid->running->context, &grid->scheduler);
}

void wait(const Barrier &barrier, unsigned phase) {
  waitUntil([&barrier, phase] { return barrier.phase != phase; });
}

Warp &ownWarp() { return grid->block().warps[grid->running->thread / 32]; }

void enter() {
  (*grid->kernel)();
  grid->running->isDone = true;
  swapcontext(&grid->running->context, &grid->scheduler);
}

float factorOf(u32 word, int half, Factor factor) {
  u32 bits = word >> 16 * half << 16;
  if (factor == Factor::F16) {
    auto number = static_cast<unsigned short>(bits >> 16);
    return __builtin_bit_cast(_Float16, number);
  }
  return __builtin_bit_cast(float, factor == Factor::Bf16 ? bits : word);
}

/// mma of a warp whose lanes have stored their factors.
void multiply(Warp &warp, Factor factor) {
  const bool isWide = factor == Factor::Tf32;
  const int depth = isWide ? 8 : 16, numbers = isWide ? 1 : 2;
  double a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < numbers; ++half) {
      const int place = lane % 4 * numbers + half;
      for (int i = 0; i < 4; ++i)
        a[lane / 4 + i % 2 * 8][place + i / 2 * depth / 2] =
            factorOf(warp.a[lane][i], half, factor);
      for (int i = 0; i < 2; ++i)
        b[place + i * depth / 2][lane / 4] = factorOf(warp.b[lane][i], half, factor);
    }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      double sum = warp.c[lane][i];
      for (int k = 0; k < depth; ++k)
        sum += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
      warp.c[lane][i] = static_cast<float>(sum);
    }
}

} // namespace

// Libraries of some compilers lack this conversion, whose result is in the register of a _Float16.
extern "C" __attribute__((weak)) _Float16 __truncsfbf2(float number) {
  u32 bits = __builtin_bit_cast(u32, number);
  if (number == number)
    bits += 0x7fff + (bits >> 16 & 1);
  return __builtin_bit_cast(_Float16, static_cast<unsigned short>(bits >> 16));
}

char *sharedMemory(int rank, u32 address) {
  const int own = grid->running->block;
  std::vector<char> &memory =
      grid->blocks[rank < 0 ? own : own / grid->cluster * grid->cluster + rank].shared;
  if (address % 16 != 0 || address + 16 > memory.size())
    stop("an access to shared memory is not inside, or not aligned");
  return memory.data() + address;
}

u32 threadId() { return static_cast<u32>(grid->running->thread); }
u32 blockId() { return static_cast<u32>(grid->running->block); }

void syncBlock() {
  Barrier &barrier = grid->block().barrier;
  wait(barrier, barrier.arrive(grid->threads));
}

void arriveAtCluster() {
  grid->running->clusterPhase = grid->clusterBarrier().arrive(grid->cluster * grid->threads);
}

void waitForCluster() { wait(grid->clusterBarrier(), grid->running->clusterPhase); }

void multiplyWarp(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1, Factor factor) {
  Warp &warp = ownWarp();
  const int lane = grid->running->thread % 32;
  if (factor == Factor::Tf32 && ((a[0] | a[1] | a[2] | a[3] | b0 | b1) & 0x1fff) != 0)
    stop("a factor is not rounded to TF32");
  std::memcpy(warp.a[lane], a, sizeof a);
  std::memcpy(warp.c[lane], c, sizeof c);
  warp.b[lane][0] = b0;
  warp.b[lane][1] = b1;
  unsigned phase = warp.barrier.arrive(32);
  if (warp.barrier.phase != phase)
    multiply(warp, factor);
  wait(warp.barrier, phase);
  std::memcpy(c, warp.c[lane], sizeof c);
}

void waitForGroup() {
  Barrier &barrier = grid->block().groups[grid->running->thread / kGroupThreads];
  wait(barrier, barrier.arrive(kGroupThreads));
}

void syncWarp() { wait(ownWarp().barrier, ownWarp().barrier.arrive(32)); }

void shareRows(u32 address, u32 (&rows)[4]) {
  const int lane = grid->running->thread % 32;
  ownWarp().a[lane][0] = address;
  syncWarp();
  for (int i = 0; i < 4; ++i)
    rows[i] = ownWarp().a[i * 8 + lane / 4][0];
  syncWarp();
}

void shareTwoRows(u32 address, u32 (&rows)[4][2]) {
  const int lane = grid->running->thread % 32;
  ownWarp().a[lane][0] = address;
  syncWarp();
  for (int i = 0; i < 4; ++i)
    for (int half = 0; half < 2; ++half)
      rows[i][half] = ownWarp().a[i * 8 + lane % 4 * 2 + half][0];
  syncWarp();
}

/// The value of lane `other` of a warp whose lanes call this together.
static u32 valueOf(u32 value, int other) {
  ownWarp().a[grid->running->thread % 32][0] = value;
  syncWarp();
  const u32 found = ownWarp().a[other][0];
  syncWarp();
  return found;
}

u32 laneOfFour(u32 value, int lane) {
  return valueOf(value, grid->running->thread % 32 / 4 * 4 + lane);
}

u32 exchange(u32 value, int distance) {
  return valueOf(value, grid->running->thread % 32 ^ distance);
}

void initBarrier(u32 address, int arrivals) {
  grid->block().copyBarriers[address] = {arrivals, arrivals, 0, 0};
}
void arriveWithBytes(u32 address, int bytes) {
  CopyBarrier &barrier = grid->block().copyBarriers.at(address);
  --barrier.missing;
  barrier.bytes += bytes;
  barrier.update();
}
void completeBytes(u32 address, int bytes) {
  CopyBarrier &barrier = grid->block().copyBarriers.at(address);
  barrier.bytes -= bytes;
  barrier.update();
}
void waitBarrier(u32 address, u32 parity) {
  const CopyBarrier &barrier = grid->block().copyBarriers.at(address);
  waitUntil([&barrier, parity] { return barrier.phase != parity; });
}
void giveTurn(u32 group) { grid->block().turns[group].arrive(2 * kGroupThreads); }
void waitForTurn(u32 group) {
  Barrier &turn = grid->block().turns[group];
  wait(turn, turn.arrive(2 * kGroupThreads));
}

void runGrid(int blocks, int threads, int cluster, int sharedBytes,
             const std::function<void()> &kernel) {
  Grid own{threads, cluster, &kernel, {}, {}, {}, {}, nullptr};
  grid = &own;
  own.blocks.resize(blocks);
  for (Block &block : own.blocks) {
    block.shared.assign(sharedBytes, '\xff');
    block.warps.resize(threads / 32);
    block.groups.resize(threads / kGroupThreads);
  }
  own.clusters.resize(blocks / cluster);
  own.fibers.resize(static_cast<size_t>(blocks) * threads);
  std::vector<size_t> order;
  for (size_t i = 0; i < own.fibers.size(); ++i) {
    Fiber &fiber = own.fibers[i];
    fiber.block = static_cast<int>(i) / threads;
    fiber.thread = static_cast<int>(i) % threads;
    fiber.stack = std::make_unique<char[]>(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    makecontext(&fiber.context, enter, 0);
    order.push_back(i);
  }
  std::mt19937 random(1);
  for (bool isDone = false; !isDone;) {
    std::shuffle(order.begin(), order.end(), random);
    bool hasMoved = false;
    isDone = true;
    for (size_t i : order) {
      Fiber &fiber = own.fibers[i];
      if (fiber.isDone)
        continue;
      isDone = false;
      own.running = &fiber;
      if (fiber.condition && !fiber.condition())
        continue;
      hasMoved = true;
      fiber.condition = nullptr;
      swapcontext(&own.scheduler, &fiber.context);
    }
    if (!isDone && !hasMoved)
      stop("all threads wait");
  }
}
