// One global a distinct constant.

#include "passes/llvm/Constants.h"

using namespace mlir;
using namespace convoy;

Value Constants::get(OpBuilder &builder, Operation *user, Type type, Attribute value) {
  auto module = user->getParentOfType<ModuleOp>();
  LLVM::GlobalOp &global = globals[{type, value}];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    if (names.empty())
      for (Operation &op : *module.getBody())
        if (auto name = SymbolTable::getSymbolName(&op))
          names.insert(name);
    std::string name;
    do
      name = "cudnn_constant_" + std::to_string(next++);
    while (!names.insert(name).second);
    builder.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private, name, value);
  }
  return LLVM::AddressOfOp::create(builder, user->getLoc(), global);
}

Value Constants::getText(OpBuilder &builder, Operation *user, std::string text) {
  text.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  return get(builder, user, type, builder.getStringAttr(text));
}
