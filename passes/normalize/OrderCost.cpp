// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/OrderCost.h"
#include "dialect/tcp/TcpShapes.h"
#include "passes/common/PoolWindows.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::tcp;

namespace convoy {

int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() *
         static_cast<int64_t>(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

/// The maximum number of ops that are visited for one value, so that the time is linear.
static constexpr size_t kMostOps = 128;

bool canKeepOrder(MatmulOp op, ArrayRef<int64_t> perm, const WeightValues &weights) {
  return weights.contains(op.getRhs()) && perm.back() == static_cast<int64_t>(perm.size()) - 1 &&
         llvm::all_of(shapeOf(op.getRhs()).drop_back(2), [](int64_t size) { return size == 1; });
}

/// Whether `op` will read and write channels-last images.
static bool becomesChannelsLast(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ConvOpInterface, MaxPoolOp, AvgPoolOp>(
          [](auto each) { return !each.getChannelsLast(); })
      .Default(false);
}

/// Whether a generated kernel computes `pool` in any order.
static bool hasGeneratedKernel(Operation *pool) {
  auto mean = dyn_cast<AvgPoolOp>(pool);
  if (!mean)
    return true;
  auto [kernel, stride] = std::pair(mean.getKernel(), mean.getStride());
  ArrayRef<int64_t> places = shapeOf(mean).slice(firstSpatialDim(false), kernel.size());
  bool isWhole = llvm::all_of(places, [](int64_t size) { return size == 1; });
  bool readsOnce = llvm::all_of(llvm::zip_equal(kernel, stride), [](auto sizes) {
    return std::get<0>(sizes) <= std::get<1>(sizes);
  });
  return !isWhole && (readsOnce || ShapedType::getNumElements(kernel) <= kLargestPoolWindow);
}

/// Whether a convolution reads `value`, or a result that is computed from it in any order of dims,
/// maybe together with other values. True if there are many ops, so that the time is linear.
static bool leadsToConv(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<ConvOpInterface, ConvBackwardDataOp, ConvBackwardFilterOp, IsolatedGroupOp>(user) ||
          values.size() > kMostOps)
        return true;
      if (!isa<MatmulOp, ReshapeOp, TransposeOp>(user))
        values.insert_range(user->getResults());
    }
  return false;
}

bool staysChannelsFirst(Operation *pool, const WeightValues &weights) {
  Value input = pool->getOperand(0), result = pool->getResult(0);
  auto function = pool->getParentOfType<FunctionOpInterface>();
  if (!function || getTarget(function) != Target::Cuda || !hasGeneratedKernel(pool) ||
      leadsToConv(input))
    return false;
  int64_t rank = shapeOf(result).size();
  return bytesToTranspose(result, identity(rank), weights) <=
         bytesOf(input) + bytesToTranspose(result, channelsLast(rank), weights);
}

namespace {

/// Follows a value through the ops after it.
class Follower {
public:
  explicit Follower(const WeightValues &weights) : weights(weights) {}

  void start(Value value, ArrayRef<int64_t> perm) { orders[value] = Permutation(perm); }
  void visit(Operation *op);
  int64_t bytes() const;

private:
  /// The order of the result of `op` without a transpose, or std::nullopt. One of its operands, of
  /// which those that are followed have one order, is stored with `perm`.
  std::optional<Permutation> orderAfter(Operation *op, ArrayRef<int64_t> perm) const;
  bool isInOrder(Value value) const {
    return movesUnitDimsOnly(shapeOf(value),
                             toStored(identity(shapeOf(value).size()), orders.lookup(value)));
  }

  const WeightValues &weights;
  llvm::MapVector<Value, Permutation> orders;
  llvm::SetVector<Value> transposed;
};

} // namespace

std::optional<Permutation> Follower::orderAfter(Operation *op, ArrayRef<int64_t> perm) const {
  using Result = std::optional<Permutation>;
  Permutation same(perm);
  if (op->hasTrait<convoy::tcp::Elementwise>() || isa<ConcatOp>(op)) {
    bool isJoin = llvm::any_of(op->getOperands(), [&](Value operand) {
      return !weights.contains(operand) &&
             (!orders.contains(operand) || orders.lookup(operand) != same);
    });
    return isJoin ? std::nullopt : Result(same);
  }
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](MatmulOp product) {
        return canKeepOrder(product, perm, weights) ? Result(same) : std::nullopt;
      })
      .Case([&](TransposeOp transpose) -> Result {
        return Permutation(
            llvm::map_range(transpose.getPerm(), [&](int64_t dim) { return perm[dim]; }));
      })
      .Case([&](ReshapeOp reshape) {
        StoredReshape steps = followReshape(shapeOf(reshape.getInput()), shapeOf(reshape), perm);
        return steps.transposed.empty() ? Result(steps.perm) : std::nullopt;
      })
      .Case([&](LayerNormOp norm) {
        bool isLast = llvm::all_of(norm.getDims(), [&](int64_t dim) { return perm[dim] == dim; });
        return isLast ? Result(same) : std::nullopt;
      })
      .Case([&](SliceOp) { return Result(same); })
      .Default([](Operation *) { return std::nullopt; });
}

void Follower::visit(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!orders.contains(operand.get()))
      continue;
    Permutation order = orders.lookup(operand.get());
    bool isRead = isa<AttentionOp>(op) && operand.getOperandNumber() < 3 &&
                  order.back() == static_cast<int64_t>(order.size()) - 1;
    if (isRead)
      continue;
    if (becomesChannelsLast(op)) {
      if (order != channelsLast(order.size()))
        transposed.insert(operand.get());
      continue;
    }
    std::optional<Permutation> after = orderAfter(op, order);
    if (after)
      orders[op->getResult(0)] = std::move(*after);
    else if (!isInOrder(operand.get()))
      transposed.insert(operand.get());
  }
}

int64_t Follower::bytes() const {
  int64_t sum = 0;
  for (Value value : transposed)
    sum += bytesOf(value);
  return sum;
}

int64_t bytesToTranspose(Value value, ArrayRef<int64_t> perm, const WeightValues &weights) {
  Follower follower(weights);
  follower.start(value, perm);
  size_t visited = 0;
  for (Operation *op = value.getDefiningOp()->getNextNode(); op && visited < kMostOps;
       op = op->getNextNode(), ++visited)
    follower.visit(op);
  return follower.bytes();
}

} // namespace convoy
