// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/gpu_codegen/KernelEntry.h"
#include "passes/common/Locations.h"

using namespace mlir;

namespace convoy::gpu_codegen {

/// The number of elements of an operand that the loops of a kernel read, each counted once.
static int64_t elementsRead(const KernelMapping &plan, unsigned number) {
  const KernelOperand &operand = plan.operands[number];
  int64_t all = operand.buffer->type.getNumElements(), read = 1;
  if (!operand.isLinear)
    return all;
  for (ArrayRef<KernelLoop> loops : {ArrayRef(plan.parallel), ArrayRef(plan.reduction)})
    for (const KernelLoop &loop : loops)
      if (loop.steps[number] != 0)
        read *= loop.size;
  return std::min(all, read);
}

namespace {

/// The memory that the bodies of a kernel access.
struct Accesses {
  DenseSet<Value> read, written;
  int64_t moved = 0; ///< bytes

  void add(const KernelMapping &plan) {
    for (auto [number, operand] : llvm::enumerate(plan.operands)) {
      int64_t init = int64_t(number) - plan.numInputs;
      bool isInit = 0 <= init && init < plan.numResults();
      if (!operand.buffer || (plan.epilogue && isInit))
        continue;
      int64_t size = elementBytes(operand.buffer->type.getElementType());
      if (operand.isRead && !(isInit && plan.inits[init])) {
        read.insert(operand.buffer->root);
        moved += elementsRead(plan, number) * size;
      }
      if (int64_t(number) >= plan.firstOutput) {
        written.insert(operand.buffer->root);
        // The loops, not the operand, because they include padding.
        if (plan.rows)
          size *= operand.buffer->type.getNumElements();
        else
          for (const KernelLoop &loop : plan.parallel)
            size *= loop.size;
        moved += size;
      }
    }
  }
};

} // namespace

Attribute manifestEntry(ArrayRef<KernelMapping> plans, Kernel kernel) {
  Builder builder(kernel.func.getContext());
  Accesses accesses;
  for (const KernelMapping &plan : plans)
    accesses.add(plan);
  int64_t moved = accesses.moved;
  llvm::DenseMap<Value, int64_t> gathered;
  for (const Buffer &buffer : kernel.gathered)
    if (!accesses.read.contains(buffer.root))
      gathered[buffer.root] += packedBytes(buffer.type);
  SmallVector<Attribute> arguments;
  for (Value root : kernel.arguments) {
    auto type = cast<MemRefType>(root.getType());
    int64_t size = packedBytes(type), gatheredBytes = gathered.lookup(root);
    bool isRead = accesses.read.contains(root) || gatheredBytes != 0,
         isWritten = accesses.written.contains(root);
    moved += std::min(gatheredBytes, size); // reshapes of it are the same memory
    StringRef role = !isWritten ? "input" : isRead ? "inout" : "output";
    arguments.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("role", builder.getStringAttr(role)),
         builder.getNamedAttr("bytes", builder.getI64IntegerAttr(size))}));
  }
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(kernel.func.getName())),
       builder.getNamedAttr("location", builder.getStringAttr(placeText(kernel.func.getLoc()))),
       builder.getNamedAttr("bytes", builder.getI64IntegerAttr(moved)),
       builder.getNamedAttr("arguments", builder.getArrayAttr(arguments))});
}

std::string nameOf(ArrayRef<KernelMapping> plans) {
  if (plans.size() == 1)
    return plans.front().name;
  SmallVector<std::string> names = {"siblings"};
  for (const KernelMapping &plan : plans)
    if (!llvm::is_contained(names, plan.name))
      names.push_back(plan.name);
  constexpr size_t kMostNames = 3;
  names.resize(std::min(names.size(), kMostNames));
  return llvm::join(names, "_");
}

} // namespace convoy::gpu_codegen
