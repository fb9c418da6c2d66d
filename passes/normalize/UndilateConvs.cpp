// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A strided transposed convolution is a convolution of an input with zeros between its elements,
// stride^rank times as large, and most of its products are zeros. cuDNN computes it as the gradient
// of a convolution, or it is a convolution of the elements alone, which computes the pixels between
// two elements as channels.

#include "dialect/tcp/TcpShapes.h"
#include "passes/Passes.h"
#include "passes/normalize/DilatedConv.h"
#include "passes/normalize/Weights.h"
#include "llvm/Support/MathExtras.h"

namespace convoy {
#define GEN_PASS_DEF_TCPUNDILATECONVSPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// cuDNN has gradients with an epilogue if pixels are multiples of this.
constexpr int64_t kAlignedBits = 128;

struct UndilateConvsPass : public convoy::impl::TcpUndilateConvsPassBase<UndilateConvsPass> {
  using Base::Base;
  void runOnStaticShapes() override;
};

} // namespace

/// Whether the gradient of a convolution is the same, in a form for which cuDNN has epilogues.
static bool isGradient(const DilatedConv &dilated) {
  int64_t bits = getElementTypeOrSelf(dilated.source).getIntOrFloatBitWidth();
  if (dilated.dims.size() != 2 || dilated.channels() * bits % kAlignedBits != 0 ||
      dilated.filters() * bits % kAlignedBits != 0)
    return false;
  return llvm::all_of(dilated.dims, [](const SpatialDim &dim) {
    int64_t pad = dim.window - 1 - dim.before, last = dim.output + 2 * pad - dim.window;
    return pad >= 0 && last >= 0 && last / dim.stride + 1 == dim.input;
  });
}

/// The gradient of a convolution with the reversed window, whose inputs and outputs are swapped.
static Value gradient(OpBuilder &builder, const DilatedConv &dilated) {
  ConvOpInterface conv = dilated.conv;
  Location loc = conv.getLoc();
  Value weights = conv.getWeights();
  auto rank = static_cast<int64_t>(shapeOf(weights).size());
  SmallVector<int64_t> window = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1)), perm = {rank - 1},
                       stride, pad;
  llvm::append_range(perm, window);
  perm.push_back(0);
  weights = ReverseOp::create(builder, loc, weights.getType(), weights, window);
  weights = permuted(builder, loc, weights, perm);
  for (const SpatialDim &dim : dilated.dims) {
    stride.push_back(dim.stride);
    pad.append(2, dim.window - 1 - dim.before);
  }
  return ConvBackwardDataOp::create(builder, loc, conv.getOutput().getType(),
                                    dilated.input(builder), weights, stride, pad,
                                    conv.getDilation(), 1, true);
}

/// Whether a convolution of the elements computes the pixels between two of them as channels, and
/// these are in the order of the result, or copied from fewer bytes than the zeros would take.
static bool hasPhases(const DilatedConv &dilated) {
  if (!llvm::all_of(dilated.dims, [](const SpatialDim &dim) {
        return dim.window >= dim.stride && dim.low() >= 0 && dim.high() >= 0;
      }))
    return false;
  bool isInOrder = llvm::all_of(ArrayRef(dilated.dims).drop_back(),
                                [](const SpatialDim &dim) { return dim.stride == 1; });
  return isInOrder || dilated.filters() <= dilated.channels();
}

/// The filters of each output between two elements, one after another: those for the first one of
/// each dim come first.
static Value phaseFilters(OpBuilder &builder, const DilatedConv &dilated) {
  ConvOpInterface conv = dilated.conv;
  Location loc = conv.getLoc();
  Value weights = conv.getWeights();
  SmallVector<Value> parts = {weights};
  for (auto [index, dim] : llvm::enumerate(dilated.dims)) {
    SmallVector<Value> next;
    for (Value part : parts)
      for (int64_t r = 0; r < dim.stride; ++r) {
        SmallVector<int64_t> sizes(shapeOf(part)), starts(sizes.size(), 0),
            strides(sizes.size(), 1), low(sizes.size(), 0), high(sizes.size(), 0),
            interior(sizes.size(), 0);
        starts[index + 1] = dim.start[r];
        strides[index + 1] = dim.stride;
        sizes[index + 1] = dim.taps(r);
        low[index + 1] = dim.first[r] - dim.first.front();
        high[index + 1] = dim.reach() - low[index + 1] - dim.taps(r);
        Value taps = SliceOp::create(builder, loc, withShape(part.getType(), sizes), part, starts,
                                     sizes, strides);
        sizes[index + 1] = dim.reach();
        next.push_back(PadOp::create(builder, loc, withShape(part.getType(), sizes), taps, low,
                                     high, interior, APFloat(0.0)));
      }
    parts = next;
  }
  SmallVector<int64_t> shape(shapeOf(parts.front()));
  shape.front() *= static_cast<int64_t>(parts.size());
  return ConcatOp::create(builder, loc, withShape(weights.getType(), shape), parts, 0);
}

/// A row of `copies` copies of `row`, a weight with one element or one for each channel.
static Value repeated(OpBuilder &builder, Value row, int64_t copies) {
  SmallVector<int64_t> shape(shapeOf(row)), split = {1, shape.back()},
                                            tiled = {copies, shape.back()};
  if (shape.back() == 1)
    return row;
  Location loc = row.getLoc();
  row = reshaped(builder, loc, row, split);
  row = BroadcastOp::create(builder, loc, withShape(row.getType(), tiled), row);
  shape.back() *= copies;
  return reshaped(builder, loc, row, shape);
}

/// The one user of `value`, if it is an elementwise op with rows of weights, which can come before
/// the pixels are in order.
static Operation *rowUser(Value value, const WeightValues &weights) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  auto isRow = [&](Value operand) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    return operand == value ||
           (weights.contains(operand) && shape.size() == shapeOf(value).size() &&
            llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; }));
  };
  return user->hasTrait<convoy::tcp::Elementwise>() && user->getNumResults() == 1 &&
                 shapeOf(user->getResult(0)) == shapeOf(value) &&
                 llvm::all_of(user->getOperands(), isRow)
             ? user
             : nullptr;
}

/// Pixels x phases x channels in the order of the image, without those behind its end.
static Value inOrder(OpBuilder &builder, Value value, const DilatedConv &dilated,
                     int64_t channels) {
  Location loc = value.getLoc();
  int64_t batch = shapeOf(value).front();
  auto rank = static_cast<int64_t>(dilated.dims.size());
  SmallVector<int64_t> split = {batch}, phases, perm = {0}, merged = {batch}, shape = {batch};
  for (auto [index, dim] : llvm::enumerate(dilated.dims)) {
    split.push_back(dim.places());
    merged.push_back(dim.places() * dim.stride);
    shape.push_back(dim.output);
    perm.push_back(static_cast<int64_t>(index) + 1);
    if (dim.stride != 1) {
      perm.push_back(rank + 1 + static_cast<int64_t>(phases.size()));
      phases.push_back(dim.stride);
    }
  }
  llvm::append_range(split, phases);
  perm.push_back(static_cast<int64_t>(split.size()));
  for (SmallVector<int64_t> *each : {&split, &merged, &shape})
    each->push_back(channels);
  value = permuted(builder, loc, reshaped(builder, loc, value, split), perm);
  value = reshaped(builder, loc, value, merged);
  if (merged == shape)
    return value;
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  return SliceOp::create(builder, loc, withShape(value.getType(), shape), value, starts, shape,
                         strides);
}

/// Replaces the convolution, and the ops after it that are fused with it. Appends them to
/// `replaced`.
static void replaceByPhases(OpBuilder &builder, const DilatedConv &dilated,
                            const WeightValues &weights, SmallVectorImpl<Operation *> &replaced) {
  ConvOpInterface conv = dilated.conv;
  Value filters = phaseFilters(builder, dilated);
  int64_t channels = dilated.filters(), copies = shapeOf(filters).front() / channels;
  SmallVector<int64_t> shape = {dilated.batch()}, pad;
  for (const SpatialDim &dim : dilated.dims) {
    shape.push_back(dim.places());
    pad.append({dim.low(), dim.high()});
  }
  shape.push_back(channels * copies);
  Operation *moved = cloneWith(builder, conv, {dilated.input(builder), filters},
                               withShape(conv.getOutput().getType(), shape));
  moved->setAttr("pad", builder.getDenseI64ArrayAttr(pad));
  Value old = conv.getOutput();
  replaced.push_back(conv);
  while (Operation *user = rowUser(old, weights)) {
    builder.setInsertionPoint(user);
    SmallVector<Value> operands = llvm::map_to_vector(user->getOperands(), [&](Value operand) {
      return operand == old ? moved->getResult(0) : repeated(builder, operand, copies);
    });
    old = user->getResult(0);
    moved = cloneWith(builder, user, operands, withShape(old.getType(), shape));
    replaced.push_back(user);
  }
  old.replaceAllUsesWith(inOrder(builder, moved->getResult(0), dilated, channels));
}

void UndilateConvsPass::runOnStaticShapes() {
  func::FuncOp function = getOperation();
  WeightValues weights(function);
  OpBuilder builder(&getContext(), &weights);
  SmallVector<ConvOpInterface> convs;
  function.walk([&](ConvOpInterface op) { convs.push_back(op); });
  // Replaced ops are erased at the end, because `weights` knows values by their address.
  SmallVector<Operation *> replaced;
  for (ConvOpInterface conv : convs) {
    std::optional<DilatedConv> dilated = DilatedConv::match(conv);
    if (!dilated || !weights.contains(conv.getWeights()))
      continue;
    builder.setInsertionPoint(conv);
    bool isInOrder = dilated->dims.front().stride == 1 || dilated->dims.size() == 1;
    if (!isInOrder && isGradient(*dilated)) {
      conv.getOutput().replaceAllUsesWith(gradient(builder, *dilated));
      replaced.push_back(conv);
    } else if (hasPhases(*dilated)) {
      replaceByPhases(builder, *dilated, weights, replaced);
    } else {
      continue;
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}
