// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers builders of operation graphs to data and a function that interprets it. They run once per
// load and only make calls; code for each call would be larger and take longer to compile.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/llvm/CudnnBackendToLLVM.h"
#include "passes/llvm/CudnnCalls.h"

using namespace mlir;
using namespace convoy;

namespace {

/// Lowers the functions of one module.
class Writer {
public:
  explicit Writer(ModuleOp module)
      : module(module), symbols(module), builder(module.getBodyRegion()),
        word(builder.getI32Type()), pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void write(ArrayRef<cudnn_backend::FuncOp> funcs) {
    CudnnCallTables tables;
    SmallVector<LLVM::GlobalOp> calls;
    for (cudnn_backend::FuncOp func : funcs)
      calls.push_back(words((func.getSymName() + "_calls").str(), encodeCalls(func, tables)));
    LLVM::GlobalOp kinds = words("cudnn_call_kinds", tables.getKinds());
    // Aligned, because lists and numbers are read in place.
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), tables.getData().size());
    LLVM::GlobalOp data =
        global("cudnn_call_data", bytes, builder.getStringAttr(tables.getData()), /*alignment=*/8);
    auto type = LLVM::LLVMFunctionType::get(word, SmallVector<Type>(6, pointer));
    make = LLVM::LLVMFuncOp::create(builder, module.getLoc(), "convoy_make_calls", type);
    for (auto [func, own] : llvm::zip_equal(funcs, calls))
      write(func, own, kinds, data);
  }

private:
  LLVM::GlobalOp global(StringRef name, Type type, Attribute value, uint64_t alignment) {
    auto made = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, name, value, alignment);
    symbols.insert(made); // renames it if the name is in use
    return made;
  }

  LLVM::GlobalOp words(StringRef name, ArrayRef<int32_t> values) {
    auto shape = RankedTensorType::get(static_cast<int64_t>(values.size()), word);
    return global(name, LLVM::LLVMArrayType::get(word, values.size()),
                  DenseElementsAttr::get(shape, values), /*alignment=*/4);
  }

  /// Stores pointers into an array on the stack.
  Value array(Location loc, ValueRange values) {
    Value count = LLVM::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(std::max<int64_t>(values.size(), 1)));
    Value base = LLVM::AllocaOp::create(builder, loc, pointer, pointer, count);
    for (auto [index, value] : llvm::enumerate(values)) {
      Value element = LLVM::GEPOp::create(builder, loc, pointer, pointer, base,
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      LLVM::StoreOp::create(builder, loc, value, element);
    }
    return base;
  }

  /// Creates the function, whose parameters are the table, the arguments, and an address per
  /// result.
  void write(cudnn_backend::FuncOp source, LLVM::GlobalOp calls, LLVM::GlobalOp kinds,
             LLVM::GlobalOp data) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(source);
    Location loc = source.getLoc();
    size_t given = source.getBody().getNumArguments(),
           count = 1 + given + source.getBody().front().getTerminator()->getNumOperands();
    auto func = LLVM::LLVMFuncOp::create(
        builder, loc, source.getSymName(),
        LLVM::LLVMFunctionType::get(word, SmallVector<Type>(count, pointer)));
    builder.setInsertionPointToStart(func.addEntryBlock(builder));
    ValueRange parameters = func.getArguments();
    SmallVector<Value> operands{parameters.front()};
    for (LLVM::GlobalOp each : {calls, kinds, data})
      operands.push_back(LLVM::AddressOfOp::create(builder, loc, each));
    operands.push_back(array(loc, parameters.slice(1, given)));
    operands.push_back(array(loc, parameters.drop_front(1 + given)));
    Value status = LLVM::CallOp::create(builder, loc, make, operands).getResult();
    LLVM::ReturnOp::create(builder, loc, status);
    source.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  Type word, pointer;
  LLVM::LLVMFuncOp make;
};

} // namespace

void convoy::lowerCudnnBackendFuncs(ModuleOp module) {
  SmallVector<cudnn_backend::FuncOp> funcs(module.getOps<cudnn_backend::FuncOp>());
  if (!funcs.empty())
    Writer(module).write(funcs);
}
