// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions whose pixels are no multiple of 16 bytes get channels of zeros: cuDNN's kernels and
// those of runtime/device copy 16 bytes at a time.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/PaddedDim.h"
#include "passes/normalize/Weights.h"
#include "llvm/Support/MathExtras.h"

namespace convoy {
#define GEN_PASS_DEF_TCPALIGNCHANNELSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// With fewer channels there are kernels of their own (conv_narrow.cu), and most would be zeros.
constexpr int64_t kFewestChannels = 17;
constexpr int64_t kAlignedBits = 128;

struct AlignChannelsPass : public convoy::impl::TcpAlignChannelsPassBase<AlignChannelsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

/// The values of a function in a form with more channels, its last dim, which are zeros or other
/// finite numbers. A convolution reads it with filters that have zeros there.
class AlignedValues {
public:
  explicit AlignedValues(func::FuncOp function) : weights(function) {}

  /// Makes `conv` read its input with `to` channels, if possible.
  void alignInput(ConvOpInterface conv, int64_t to);
  /// Makes `conv` compute `to` channels, if generated kernels read its result, or that of the ops
  /// that are fused with it: they can leave out the additional ones.
  void alignResult(ConvOpInterface conv, int64_t to);

private:
  /// The form of `value` with `to` channels, or null if no convolution computes the additional
  /// ones.
  Value find(Value value, int64_t to);
  Value findResult(ConvOpInterface conv, int64_t to);
  Value findPointwise(Operation *op, int64_t to);
  /// `value` with zeros.
  Value pad(Value value, int64_t to);

  WeightValues weights;
  /// The slices that replaced the values which have such a form, and values that have none.
  llvm::DenseSet<Operation *> slices;
  llvm::DenseSet<Value> others;
};

} // namespace

static PaddedDim channelsOf(Value value, int64_t to) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return {static_cast<int64_t>(shape.size()) - 1, shape.back(), to};
}

static RankedTensorType withChannels(Value value, int64_t to) {
  return withShape(value.getType(), paddedShape(shapeOf(value), channelsOf(value, to)));
}

/// The number of channels to which `value`, an input or a result of a convolution, is padded; its
/// own if it stays as it is.
static int64_t alignedChannels(Value value, bool allowTf32) {
  Type element = getElementTypeOrSelf(value);
  int64_t channels = shapeOf(value).back();
  if (channels < kFewestChannels ||
      !(element.isF16() || element.isBF16() || (element.isF32() && allowTf32)))
    return channels;
  return llvm::alignTo(channels, kAlignedBits / element.getIntOrFloatBitWidth());
}

/// Whether `conv` has the channels last and is in no `tcp.isolated_group` of the input, which
/// becomes one graph as it is.
static bool isSuitable(ConvOpInterface conv) {
  return conv.getChannelsLast() && !isa<IsolatedGroupOp>(conv->getParentOp());
}

static bool hasWindow(ConvOpInterface conv) {
  return llvm::any_of(shapeOf(conv.getWeights()).drop_front().drop_back(),
                      [](int64_t size) { return size > 1; });
}

/// Whether `op` computes finite numbers from finite ones, each channel from the same one of its
/// operands.
static bool isPointwise(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return isa<FloatType>(getElementTypeOrSelf(cast.getInput())) &&
           isa<FloatType>(getElementTypeOrSelf(cast.getOutput()));
  if (auto pool = dyn_cast<MaxPoolOp>(op))
    return pool.getChannelsLast();
  if (auto pool = dyn_cast<AvgPoolOp>(op))
    return pool.getChannelsLast();
  return isa<AbsOp, AddOp, ClampOp, EluOp, ErfOp, GeluOp, LeakyReluOp, MaximumOp, MinimumOp, MulOp,
             NegOp, SigmoidOp, SiluOp, SubOp, TanhOp>(op);
}

/// Whether generated kernels run an op.
static bool isGenerated(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<ConcatOp, PadOp, SliceOp, TransposeOp>(op);
}

void AlignedValues::alignInput(ConvOpInterface conv, int64_t to) {
  if (!weights.contains(conv.getWeights()))
    return;
  Value found = find(conv.getInput(), to);
  Operation *producer = conv.getInput().getDefiningOp();
  // A copy takes longer than a product of a 1x1 window saves.
  if (!found && (hasWindow(conv) || (producer && isGenerated(producer))))
    found = pad(conv.getInput(), to);
  if (!found)
    return;
  Value filter = pad(conv.getWeights(), to);
  conv->setOperand(0, found);
  conv->setOperand(1, filter);
}

void AlignedValues::alignResult(ConvOpInterface conv, int64_t to) {
  Value value = conv.getOutput();
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    bool isFused = isPointwise(user) && llvm::all_of(user->getOperands(), [&](Value operand) {
                     return operand == value || weights.contains(operand);
                   });
    if (!isFused)
      break;
    value = user->getResult(0);
  }
  if (!value.use_empty() && llvm::all_of(value.getUsers(), isGenerated))
    find(value, to);
}

Value AlignedValues::pad(Value value, int64_t to) {
  OpBuilder builder(value.getContext(), &weights);
  builder.setInsertionPointAfterValue(value);
  return padWithZeros(builder, value.getLoc(), value, channelsOf(value, to));
}

Value AlignedValues::find(Value value, int64_t to) {
  Operation *op = value.getDefiningOp();
  if (!op || weights.contains(value) || others.contains(value))
    return {};
  if (slices.contains(op))
    return shapeOf(op->getOperand(0)).back() == to ? op->getOperand(0) : Value();
  Value found;
  if (auto conv = dyn_cast<ConvOpInterface>(op))
    found = findResult(conv, to);
  else if (isPointwise(op))
    found = findPointwise(op, to);
  if (!found) {
    others.insert(value);
    return {};
  }
  OpBuilder builder(value.getContext(), &weights);
  builder.setInsertionPointAfterValue(found);
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  auto slice =
      SliceOp::create(builder, value.getLoc(), value.getType(), found, starts, shape, strides);
  slices.insert(slice);
  value.replaceAllUsesWith(slice);
  return found;
}

Value AlignedValues::findResult(ConvOpInterface conv, int64_t to) {
  Value x = conv.getInput(), y = conv.getOutput(), filter = conv.getWeights();
  int64_t filters = shapeOf(y).back(), groups = static_cast<int64_t>(conv.getGroups());
  bool isDepthwise = groups == filters && shapeOf(x).back() == filters;
  if (!isSuitable(conv) || !weights.contains(filter) || (groups != 1 && !isDepthwise))
    return {};
  if (isDepthwise && !(x = find(x, to)))
    return {};
  OpBuilder builder(conv->getContext(), &weights);
  builder.setInsertionPoint(conv);
  filter = padWithZeros(builder, conv.getLoc(), filter, {0, filters, to});
  Operation *aligned = cloneWith(builder, conv, {x, filter}, withChannels(y, to));
  if (isDepthwise)
    aligned->setAttr("groups", builder.getI64IntegerAttr(to));
  return aligned->getResult(0);
}

Value AlignedValues::findPointwise(Operation *op, int64_t to) {
  int64_t channels = shapeOf(op->getResult(0)).back();
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    // `find` replaces the operand.
    bool hasChannels = shapeOf(op->getOperand(i)).back() == channels;
    operands.push_back(hasChannels ? find(op->getOperand(i), to) : Value());
  }
  if (llvm::none_of(operands, [](Value operand) { return operand; }))
    return {};
  for (auto [operand, given] : llvm::zip_equal(operands, op->getOperands()))
    if (!operand)
      operand = shapeOf(given).back() == channels ? pad(given, to) : given;
  OpBuilder builder(op->getContext(), &weights);
  builder.setInsertionPoint(op);
  return cloneWith(builder, op, operands, withChannels(op->getResult(0), to))->getResult(0);
}

void AlignChannelsPass::runOnStaticShapes() {
  AlignedValues values(getOperation());
  getOperation().walk([&](ConvOpInterface conv) {
    int64_t channels = alignedChannels(conv.getInput(), allowTf32);
    if (isSuitable(conv) && conv.getGroups() == 1 && channels != shapeOf(conv.getInput()).back())
      values.alignInput(conv, channels);
  });
  // The results of convolutions that were replaced have no uses.
  getOperation().walk([&](ConvOpInterface conv) {
    int64_t channels = alignedChannels(conv.getOutput(), allowTf32);
    if (isSuitable(conv) && conv.getGroups() == 1 && !conv->use_empty() &&
        channels != shapeOf(conv.getOutput()).back())
      values.alignResult(conv, channels);
  });
  for (Block &block : getOperation().getBody())
    eraseDeadOps(block);
}
