// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds an order with a lower peak by moving few ops at a time across the peak.

#include "passes/group/OpOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <tuple>

using namespace convoy;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// These limits make the time linear: of moves, of buffers that are tried for a move, and of ops
/// that one move has.
constexpr int kMaxMoves = 64;
constexpr size_t kMaxBuffers = 16;
constexpr size_t kMaxOps = 32;

/// What orders are compared by: the peak, and how many ops have it.
using Cost = std::pair<int64_t, int64_t>;

/// An order, where each op is in it, and the lifetimes that follow.
struct Schedule {
  OpOrder order;
  SmallVector<unsigned, 0> positions;                      ///< by op
  SmallVector<std::pair<unsigned, unsigned>, 0> lifetimes; ///< by buffer: first and last position
  Cost cost;
  unsigned peak = 0; ///< the first position with the peak

  Schedule(const OrderProblem &problem, OpOrder order);
};

/// Moves ops across the peak of a schedule.
class Mover {
public:
  Mover(const OrderProblem &problem, const Schedule &now);
  /// The best schedule that differs by one move, or nullopt if no move makes the cost lower.
  std::optional<Schedule> best();

private:
  void hoistReaders(unsigned buffer);
  void sinkWriter(unsigned buffer);
  /// Tries the order in which `moved` are at `position`, which is that of another op.
  void attempt(const llvm::DenseSet<unsigned> &moved, unsigned position);

  const OrderProblem &problem;
  const Schedule &now;
  SmallVector<SmallVector<unsigned>, 0> followers; ///< by op
  std::optional<Schedule> found;
};

} // namespace

Schedule::Schedule(const OrderProblem &problem, OpOrder given)
    : order(std::move(given)), positions(order.size()) {
  size_t count = order.size();
  for (auto [position, op] : llvm::enumerate(order))
    positions[op] = position;
  SmallVector<int64_t, 0> changes(count + 1, 0), written(count, 0);
  for (const OrderProblem::Buffer &buffer : problem.buffers) {
    unsigned first = positions[buffer.writer], last = first;
    for (unsigned reader : buffer.readers)
      last = std::max(last, positions[reader]);
    lifetimes.emplace_back(first, last);
    changes[first] += buffer.bytes;
    changes[last + 1] -= buffer.bytes;
    written[first] += buffer.bytes;
  }
  int64_t live = 0;
  cost = {-1, 0};
  for (auto [position, op] : llvm::enumerate(order)) {
    live += changes[position];
    int64_t dying = 0;
    for (unsigned buffer : problem.ops[op].overwrites)
      if (lifetimes[buffer].second == position)
        dying += problem.buffers[buffer].bytes;
    int64_t here = live - std::min(dying, written[position]);
    if (here > cost.first) {
      cost = {here, 0};
      peak = position;
    }
    cost.second += here == cost.first;
  }
}

Mover::Mover(const OrderProblem &problem, const Schedule &now)
    : problem(problem), now(now), followers(now.order.size()) {
  for (auto [number, op] : llvm::enumerate(problem.ops))
    for (unsigned before : op.after)
      followers[before].push_back(number);
}

void Mover::attempt(const llvm::DenseSet<unsigned> &moved, unsigned position) {
  OpOrder order;
  auto insert = [&] {
    llvm::copy_if(now.order, std::back_inserter(order),
                  [&](unsigned op) { return moved.contains(op); });
  };
  for (auto [at, op] : llvm::enumerate(now.order)) {
    if (at == position)
      insert();
    if (!moved.contains(op))
      order.push_back(op);
  }
  Schedule schedule(problem, std::move(order));
  if (schedule.cost < (found ? found->cost : now.cost))
    found.emplace(std::move(schedule));
}

/// Computes what reads `buffer` after the peak before it, so that the buffer dies there.
void Mover::hoistReaders(unsigned buffer) {
  llvm::DenseSet<unsigned> moved;
  SmallVector<unsigned> work;
  for (unsigned reader : problem.buffers[buffer].readers)
    if (now.positions[reader] > now.peak)
      work.push_back(reader);
  unsigned earliest = 0; // the position after the last op that they follow
  while (!work.empty()) {
    unsigned op = work.pop_back_val();
    if (now.positions[op] < now.peak) {
      earliest = std::max(earliest, now.positions[op] + 1);
      continue;
    }
    if (op == now.order[now.peak] || moved.size() == kMaxOps)
      return;
    if (moved.insert(op).second)
      llvm::append_range(work, problem.ops[op].after);
  }
  attempt(moved, earliest);
  attempt(moved, now.peak);
}

/// Computes `buffer`, which is read only after the peak, after it, with the ops that only it needs.
void Mover::sinkWriter(unsigned buffer) {
  llvm::DenseSet<unsigned> moved;
  SmallVector<unsigned> added = {problem.buffers[buffer].writer};
  while (!added.empty() && moved.size() + added.size() <= kMaxOps) {
    moved.insert_range(added);
    unsigned position = now.order.size();
    for (unsigned op : moved)
      for (unsigned follower : followers[op])
        if (!moved.contains(follower))
          position = std::min(position, now.positions[follower]);
    if (position <= now.peak || position == now.order.size())
      return;
    attempt(moved, position);
    added.clear();
    for (unsigned op : moved)
      for (unsigned before : problem.ops[op].after)
        if (!moved.contains(before) && !llvm::is_contained(added, before) &&
            llvm::all_of(followers[before], [&](unsigned each) { return moved.contains(each); }))
          added.push_back(before);
  }
}

std::optional<Schedule> Mover::best() {
  SmallVector<unsigned> through; // the buffers that live before and after the peak
  for (auto [number, lifetime] : llvm::enumerate(now.lifetimes))
    if (lifetime.first < now.peak && lifetime.second > now.peak)
      through.push_back(number);
  llvm::sort(through, [&](unsigned a, unsigned b) {
    return std::pair(-problem.buffers[a].bytes, a) < std::pair(-problem.buffers[b].bytes, b);
  });
  for (unsigned buffer : ArrayRef(through).take_front(kMaxBuffers)) {
    hoistReaders(buffer);
    sinkWriter(buffer);
  }
  return std::move(found);
}

int64_t convoy::peakOf(const OrderProblem &problem, const OpOrder &order) {
  return Schedule(problem, order).cost.first;
}

int64_t convoy::peakOf(const OrderProblem &problem) {
  return peakOf(problem, llvm::to_vector<0>(llvm::seq<unsigned>(0, problem.ops.size())));
}

std::optional<OpOrder> convoy::lowerPeak(const OrderProblem &problem) {
  Schedule now(problem, llvm::to_vector<0>(llvm::seq<unsigned>(0, problem.ops.size())));
  std::optional<OpOrder> lowest;
  int64_t peak = now.cost.first;
  for (int moves = 0; moves < kMaxMoves; ++moves) {
    std::optional<Schedule> next = Mover(problem, now).best();
    if (!next)
      break;
    now = std::move(*next);
    // A move that only leaves fewer ops at the peak may be the first of several that lower it.
    if (now.cost.first < peak) {
      peak = now.cost.first;
      lowest = now.order;
    }
  }
  return lowest;
}
