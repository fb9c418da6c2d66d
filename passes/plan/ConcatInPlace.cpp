// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lets the kernels that compute the inputs of a concat write into their slices of its result, so
// that the concat does not copy them. Runs on memrefs, because all users of an input's buffer are
// known there, and before plan-group-rows, because strides decide how rows are computed.

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/plan/Accesses.h"
#include "passes/plan/Concat.h"
#include "passes/plan/Views.h"

namespace convoy {
#define GEN_PASS_DEF_CONCATINPLACEPASS
#include "passes/Passes.h.inc"
} // namespace convoy

using namespace mlir;
using namespace convoy;

namespace {

/// Bytes that a GPU moves in the time of a launch, about 1.5 us.
constexpr int64_t kLaunchBytes = 4 << 20;
/// Memory is written by sectors, and by 16 bytes for each thread.
constexpr int64_t kSectorBytes = 32, kVectorBytes = 16;
/// Alignment of the tensors of a graph, in bytes.
constexpr int64_t kGraphBytes = 16;

struct ConcatInPlacePass : public convoy::impl::ConcatInPlacePassBase<ConcatInPlacePass> {
  using Base::Base;
  void runOnOperation() override;
};

/// Computes the inputs of a concat in place, as far as possible.
class Placer {
public:
  Placer(Concat concat, Block &block) : concat(std::move(concat)), block(block) {}

  void run();

private:
  struct Input {
    memref::AllocOp alloc;
    SmallVector<Operation *> views; ///< from the allocation to what the concat reads
  };

  bool findResult();
  std::optional<Input> findInput(const ConcatPart &part) const;
  bool mayBePlaced(memref::AllocOp alloc, MemRefType type) const;
  bool isEfficient(const ConcatPart &part) const;
  std::optional<MemRefType> placedType(const ConcatPart &part, const Input &input) const;
  void keepWorthwhile();
  void place(const ConcatPart &part, const Input &input);
  int64_t bytes(const ConcatPart &part) const { return part.size() * concat.bytesPerIndex(); }

  Concat concat;
  Block &block;
  Value root;                                  ///< the buffer of the result
  SmallVector<Operation *> chain;              ///< from `root` to the result
  bool isWrittenLater = false;                 ///< whether an op after the concat writes the result
  SmallVector<std::optional<Input>, 0> inputs; ///< by part: set if it is computed in place
};

} // namespace

/// Finds the result's buffer. Returns whether only the concat and ops after it use it.
bool Placer::findResult() {
  root = concat.result();
  while (Operation *view = root.getDefiningOp()) {
    if (isa<memref::AllocOp>(view))
      break;
    if (!isa<ViewLikeOpInterface>(view) || view->getNumOperands() != 1)
      return false;
    chain.insert(chain.begin(), view);
    root = view->getOperand(0);
  }
  if (auto alloc = root.getDefiningOp<memref::AllocOp>(); alloc && alloc->getBlock() != &block)
    return false;
  return walkUsers(root, [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    if (!op || op->isBeforeInBlock(concat.op))
      return false;
    isWrittenLater |= op != concat.op && writes(op, root);
    return true;
  });
}

/// Whether `op` can access a buffer of the layout of `type`. Graphs have packed tensors.
static bool mayAccess(Operation *op, MemRefType type) {
  if (isa<linalg::LinalgOp, memref::CopyOp>(op))
    return true;
  auto execute = dyn_cast<cudnn::ExecuteOp>(op);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  return execute && !execute.getOffsets() && type.areTrailingDimsContiguous(type.getRank()) &&
         offset * elementBytes(type.getElementType()) % kGraphBytes == 0;
}

/// Whether all users of the buffer can access it as a slice of `type`, and none writes it after the
/// concat.
bool Placer::mayBePlaced(memref::AllocOp alloc, MemRefType type) const {
  return walkUsers(alloc, [&](Operation *user) {
    Operation *op = block.findAncestorOpInBlock(*user);
    if (!op || !mayAccess(op, type))
      return false;
    // What reads the input later reads it from the result.
    return op == concat.op || op->isBeforeInBlock(concat.op) ||
           (!isWrittenLater && !writes(op, alloc));
  });
}

/// Whether threads write the slice by vectors and whole sectors. Where the memory of the concat
/// takes less time than a launch, this does not matter.
bool Placer::isEfficient(const ConcatPart &part) const {
  if (2 * packedBytes(concat.type()) < kLaunchBytes)
    return true;
  int64_t inner = concat.innerBytes(), row = concat.type().getDimSize(concat.dim);
  return part.size() * inner >= kSectorBytes && (part.begin * inner) % kVectorBytes == 0 &&
         (part.size() * inner) % kVectorBytes == 0 && (row * inner) % kVectorBytes == 0;
}

std::optional<Placer::Input> Placer::findInput(const ConcatPart &part) const {
  memref::LoadOp load = concat.loadOf(part);
  if (!load || !isEfficient(part))
    return std::nullopt;
  Input input;
  Value memref = load.getMemRef();
  while (Operation *view = memref.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(view))
      break;
    input.views.insert(input.views.begin(), view);
    memref = view->getOperand(0);
  }
  input.alloc = memref.getDefiningOp<memref::AllocOp>();
  if (!input.alloc || memref == root || input.alloc->getBlock() != &block)
    return std::nullopt;
  std::optional<MemRefType> type = placedType(part, input);
  return type && mayBePlaced(input.alloc, *type) ? std::optional(input) : std::nullopt;
}

/// The type of the allocation as a part of the result, or nullopt if strides cannot express it, or
/// a view of it.
std::optional<MemRefType> Placer::placedType(const ConcatPart &part, const Input &input) const {
  std::optional<MemRefType> type = concat.sliceType(part.begin, part.end);
  for (Operation *view : llvm::reverse(input.views))
    if (type)
      type = inverseViewType(view, *type);
  if (!type || !areViewsValid(input.alloc->getResult(0), *type))
    return std::nullopt;
  return type;
}

/// Keeps copying inputs between two others that are copied, if a second copy costs more than it
/// saves.
void Placer::keepWorthwhile() {
  auto isPlaced = [](const std::optional<Input> &input) { return input.has_value(); };
  for (auto *begin = llvm::find_if(inputs, isPlaced); begin != inputs.end();) {
    auto *end = std::find_if_not(begin, inputs.end(), isPlaced);
    int64_t saved = 0;
    for (auto *input = begin; input != end; ++input)
      saved += 2 * bytes(concat.parts[input - inputs.begin()]);
    if (begin != inputs.begin() && end != inputs.end() && saved < kLaunchBytes)
      std::fill(begin, end, std::nullopt);
    begin = std::find_if(end, inputs.end(), isPlaced);
  }
}

/// Replaces the allocation of an input by its slice of the result.
void Placer::place(const ConcatPart &part, const Input &input) {
  Operation *first = concat.op;
  for (Operation *user : input.alloc->getUsers())
    if (Operation *op = block.findAncestorOpInBlock(*user); op->isBeforeInBlock(first))
      first = op;
  // The result's memory is in use from here on.
  if (auto alloc = root.getDefiningOp<memref::AllocOp>(); alloc && first->isBeforeInBlock(alloc))
    alloc->moveBefore(first);
  for (Operation *view : chain)
    if (first->isBeforeInBlock(view))
      view->moveBefore(first);
  OpBuilder builder(first);
  Value slice = concat.slice(builder, part.begin, part.end);
  for (Operation *view : llvm::reverse(input.views))
    slice = inverseView(builder, view, slice);
  replaceView(input.alloc->getResult(0), slice);
  input.alloc->erase();
}

void Placer::run() {
  if (!findResult())
    return;
  DenseSet<Operation *> taken; // an input may occur repeatedly
  for (const ConcatPart &part : concat.parts) {
    std::optional<Input> input = findInput(part);
    if (input && !taken.insert(input->alloc).second)
      input.reset();
    inputs.push_back(input);
  }
  keepWorthwhile();
  if (llvm::none_of(inputs, [](const std::optional<Input> &input) { return input.has_value(); }))
    return;
  ArrayRef<ConcatPart> parts = concat.parts;
  for (auto [part, input] : llvm::zip_equal(parts, inputs))
    if (input)
      place(part, *input);
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t count = 0;
    while (i + count < parts.size() && !inputs[i + count])
      ++count;
    if (count != 0)
      concat.copy(parts.slice(i, count));
    i += count;
  }
  concat.op.erase();
}

void ConcatInPlacePass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(convoy::tcp::kTargetAttr) || !function.getBody().hasOneBlock() ||
      convoy::tcp::getTarget(function) != convoy::tcp::Target::Cuda)
    return;
  Block &block = function.getBody().front();
  // A concat comes before the concats that read its result, whose slices then have slices.
  for (auto op : llvm::make_early_inc_range(block.getOps<linalg::GenericOp>()))
    if (std::optional<Concat> concat = Concat::match(op))
      Placer(std::move(*concat), block).run();
}
