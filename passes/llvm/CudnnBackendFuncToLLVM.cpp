// Builders of operation graphs as machine code. Every op is one call through the ConvoyCudnn table, with its payload passed by address and
// its status checked; one block at the end of the function cleans up after whichever call failed.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "passes/common/Locations.h"
#include "passes/llvm/Constants.h"
#include "passes/llvm/CudnnBackendToLLVM.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cudnn_backend;

Value convoy::loadTableField(OpBuilder &builder, Location loc, Value table, int32_t pointers, int32_t field) {
  Type word = builder.getI32Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> fields(2, word);
  fields.append(pointers, pointer);
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  Value address = LLVM::GEPOp::create(builder, loc, pointer, type, table, ArrayRef<LLVM::GEPArg>{0, field});
  return LLVM::LoadOp::create(builder, loc, pointer, address);
}

namespace {

/// Writes the body of one builder. Descriptors live in an array on the stack, null until they are made and again once they are destroyed,
/// so that the clean-up needs to know nothing else.
class Emitter {
public:
  Emitter(OpBuilder &builder, Constants &constants, LLVM::LLVMFuncOp func, cudnn_backend::FuncOp source)
      : builder(builder), constants(constants), func(func), source(source), word(builder.getI32Type()), wide(builder.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  void emit() {
    loc = source.getLoc();
    Block *entry = func.addEntryBlock(builder);
    failed = builder.createBlock(&func.getBody(), func.getBody().end(), {word, pointer, pointer}, {loc, loc, loc});
    builder.setInsertionPointToStart(entry);
    prologue();
    for (Operation &op : source.getBody().front()) {
      loc = op.getLoc();
      llvm::TypeSwitch<Operation *>(&op).Case<CreateOp, SetOp, FinalizeOp, DestroyOp, GetOp, GetDescriptorsOp, ExecutePlanOp, ReturnOp>(
          [&](auto op) { emit(op); });
    }
    loc = source.getLoc();
    cleanUp();
  }

private:
  Value constant(Type type, int64_t value) { return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value)); }
  Value null() { return LLVM::ZeroOp::create(builder, loc, pointer); }
  Value load(Value address) { return LLVM::LoadOp::create(builder, loc, pointer, address); }
  Value isNull(Value value) { return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, value, null()); }
  Value field(CudnnField field) { return loadTableField(builder, loc, func.getArgument(0), kCudnnPointers, static_cast<int32_t>(field)); }
  Value allocate(int64_t count) { return LLVM::AllocaOp::create(builder, loc, pointer, pointer, constant(wide, count)); }
  Value element(Value array, Value index) {
    return LLVM::GEPOp::create(builder, loc, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{index});
  }
  Value element(Value array, int32_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{index});
  }
  /// The address of a slot that holds a descriptor: of those made here, or of those of the caller.
  Value slot(Value descriptor) {
    auto argument = dyn_cast<BlockArgument>(descriptor);
    return argument ? element(given, argument.getArgNumber()) : element(slots, slotOf.lookup(descriptor));
  }
  /// The C function's parameter for an argument of the builder's: the table comes first.
  Value parameter(Value argument) { return func.getArgument(cast<BlockArgument>(argument).getArgNumber() + 1); }
  /// The address where a result goes.
  Value resultAddress(int64_t index) { return func.getArgument(source.getBody().getNumArguments() + 1 + index); }

  Value call(Value function, ArrayRef<Type> parameters, ValueRange arguments) {
    SmallVector<Value> operands{function};
    llvm::append_range(operands, arguments);
    auto type = LLVM::LLVMFunctionType::get(word, parameters);
    return LLVM::CallOp::create(builder, loc, type, operands).getResult();
  }

  /// Goes on in a new block when the status is 0.
  void check(Operation *op, Value status, const std::string &what) {
    Value ok = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, constant(word, 0));
    Value text = constants.getText(builder, op, what), place = constants.getText(builder, op, placeText(op->getLoc()));
    Block *here = builder.getInsertionBlock(), *next = builder.createBlock(failed);
    builder.setInsertionPointToEnd(here);
    LLVM::CondBrOp::create(builder, loc, ok, next, ValueRange(), failed, ValueRange{status, text, place});
    builder.setInsertionPointToEnd(next);
  }

  void prologue() {
    for (auto create : source.getBody().front().getOps<CreateOp>())
      slotOf.try_emplace(create.getDescriptor(), static_cast<int32_t>(slotOf.size()));
    int32_t count = slotOf.size();
    slots = allocate(count);
    // Stores, not a memset, which would be a call of the C library.
    Value empty = null();
    for (int32_t index = 0; index < count; ++index)
      LLVM::StoreOp::create(builder, loc, empty, element(slots, index));
    given = allocate(source.getBody().getNumArguments());
    for (BlockArgument argument : source.getBody().getArguments())
      LLVM::StoreOp::create(builder, loc, parameter(argument), element(given, argument.getArgNumber()));
    int64_t longest = 1;
    for (Operation &op : source.getBody().front())
      longest = std::max<int64_t>(longest, op.getNumOperands());
    list = allocate(longest);
    number = LLVM::AllocaOp::create(builder, loc, pointer, wide, constant(wide, 1));
    createDescriptor = field(CudnnField::createDescriptor);
    setAttribute = field(CudnnField::setAttribute);
    finalize = field(CudnnField::finalize);
    destroyDescriptor = field(CudnnField::destroyDescriptor);
  }

  /// The address of an array of descriptors or pointers.
  Value listOf(ValueRange values) {
    for (auto [index, value] : llvm::enumerate(values)) {
      Value one = isa<DescriptorType>(value.getType()) ? load(slot(value)) : parameter(value);
      LLVM::StoreOp::create(builder, loc, one, element(list, static_cast<int32_t>(index)));
    }
    return list;
  }

  void emit(CreateOp op) {
    DescriptorKind kind = op.getDescriptor().getType().getKind();
    Value status = call(createDescriptor, {word, pointer}, {constant(word, static_cast<int32_t>(kind)), slot(op.getDescriptor())});
    check(op, status, "cudnnBackendCreateDescriptor(" + cudnnName(kind) + ")");
  }

  Value array(SetOp op, Type type, ArrayRef<int64_t> numbers) {
    SmallVector<Attribute> elements;
    for (int64_t each : numbers)
      elements.push_back(builder.getIntegerAttr(type, each));
    auto data = DenseElementsAttr::get(RankedTensorType::get(static_cast<int64_t>(elements.size()), type), elements);
    return constants.get(builder, op, LLVM::LLVMArrayType::get(type, elements.size()), data);
  }

  /// The address of the elements of a value, each of the size that cuDNN reads.
  Value payload(SetOp op, AttributeType type) {
    if (type == AttributeType::handle)
      return slot(op.getElements().front());
    if (!op.getValue())
      return op.getElements().size() == 1 ? slot(op.getElements().front()) : listOf(op.getElements());
    Attribute value = *op.getValue();
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(value))
      return array(op, type == AttributeType::int32 ? word : wide, numbers.asArrayRef());
    if (auto fractions = dyn_cast<FractionsAttr>(value))
      return array(op, wide, fractions.getNumbers());
    if (type == AttributeType::character)
      return constants.getText(builder, op, cast<StringAttr>(value).str());
    if (auto number = dyn_cast<FloatAttr>(value))
      return constants.get(builder, op, number.getType(), number);
    if (auto flag = dyn_cast<BoolAttr>(value))
      return constants.get(builder, op, builder.getI8Type(), builder.getI8IntegerAttr(flag.getValue()));
    int32_t number = lookupEnumerator(type, cast<StringAttr>(value).getValue())->number;
    return constants.get(builder, op, word, builder.getI32IntegerAttr(number));
  }

  void emit(SetOp op) {
    AttributeName name = op.getName().getValue();
    AttributeType type = *op.getValueType();
    Block *after = nullptr;
    if (type == AttributeType::handle) {
      Block *here = builder.getInsertionBlock(), *present = builder.createBlock(failed);
      after = builder.createBlock(failed);
      builder.setInsertionPointToEnd(here);
      LLVM::CondBrOp::create(builder, loc, isNull(func.getArgument(1)), after, present);
      builder.setInsertionPointToEnd(present);
    }
    Value status = call(setAttribute, {pointer, word, word, wide, pointer},
                        {load(slot(op.getDescriptor())), constant(word, static_cast<int32_t>(name)),
                         constant(word, static_cast<int32_t>(type)), constant(wide, op.getCount()), payload(op, type)});
    check(op, status, "cudnnBackendSetAttribute(" + cudnnName(name) + ")");
    if (after) {
      after->moveBefore(failed);
      LLVM::BrOp::create(builder, loc, after);
      builder.setInsertionPointToEnd(after);
    }
  }

  void emit(FinalizeOp op) {
    Value status = call(finalize, {pointer}, load(slot(op.getDescriptor())));
    check(op, status, "cudnnBackendFinalize(" + cudnnName(op.getDescriptor().getType().getKind()) + ")");
  }

  void emit(DestroyOp op) {
    Value address = slot(op.getDescriptor());
    Value descriptor = load(address);
    // Before the call: whatever it returns, the descriptor is not destroyed again.
    LLVM::StoreOp::create(builder, loc, null(), address);
    Value status = call(destroyDescriptor, {pointer}, descriptor);
    check(op, status, "cudnnBackendDestroyDescriptor(" + cudnnName(op.getDescriptor().getType().getKind()) + ")");
  }

  void emit(GetOp op) {
    AttributeName name = op.getName().getValue();
    const AttributeInfo &info = get(name);
    Type type = op.getValue().getType();
    // The alternative is what the verifier takes beside the attribute's own type: the other width of a float.
    bool isAlternative = info.alternative != AttributeType::none && type.isF32() != (info.type == AttributeType::float32);
    AttributeType asked = isa<FloatType>(type) && isAlternative ? info.alternative : info.type;
    Value status = read(op, name, asked, 1, null(), number);
    check(op, status, "cudnnBackendGetAttribute(" + cudnnName(name) + ")");
    // A boolean is a byte in memory.
    Type stored = type.isInteger(1) ? builder.getI8Type() : type;
    numbers[op.getValue()] = LLVM::LoadOp::create(builder, loc, stored, number);
  }

  void emit(GetDescriptorsOp op) {
    AttributeName name = op.getName().getValue();
    Value status = read(op, name, AttributeType::descriptor, op.getElements().size(), number, listOf(op.getElements()));
    check(op, status, "cudnnBackendGetAttribute(" + cudnnName(name) + ")");
    numbers[op.getCount()] = LLVM::LoadOp::create(builder, loc, wide, number);
  }

  template <typename Op> Value read(Op op, AttributeName name, AttributeType type, int64_t most, Value count, Value elements) {
    return call(field(CudnnField::getAttribute), {pointer, word, word, wide, pointer, pointer},
                {load(slot(op.getDescriptor())), constant(word, static_cast<int32_t>(name)), constant(word, static_cast<int32_t>(type)),
                 constant(wide, most), count, elements});
  }

  void emit(ExecutePlanOp op) {
    Value status = call(field(CudnnField::execute), {pointer, pointer, pointer},
                        {parameter(op.getHandle()), load(slot(op.getPlan())), load(slot(op.getPack()))});
    check(op, status, "cudnnBackendExecute");
  }

  void emit(ReturnOp op) {
    for (auto [index, value] : llvm::enumerate(op.getResults())) {
      Value result = isa<DescriptorType>(value.getType()) ? load(slot(value)) : numbers.lookup(value);
      LLVM::StoreOp::create(builder, loc, result, resultAddress(index));
    }
    LLVM::ReturnOp::create(builder, loc, constant(word, 0));
  }

  /// Reports, then destroys what is alive, from the last slot to the first.
  void cleanUp() {
    Region *region = &func.getBody();
    Block *loop = builder.createBlock(region, region->end(), wide, loc), *visit = builder.createBlock(region, region->end()),
          *destroy = builder.createBlock(region, region->end()), *done = builder.createBlock(region, region->end());

    builder.setInsertionPointToStart(failed);
    auto nothing = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {word, pointer, pointer});
    SmallVector<Value> operands{field(CudnnField::report)};
    llvm::append_range(operands, failed->getArguments());
    LLVM::CallOp::create(builder, loc, nothing, operands);
    LLVM::BrOp::create(builder, loc, constant(wide, slotOf.size()), loop);

    builder.setInsertionPointToStart(loop);
    Value count = loop->getArgument(0);
    Value finished = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, count, constant(wide, 0));
    LLVM::CondBrOp::create(builder, loc, finished, done, visit);

    builder.setInsertionPointToStart(visit);
    Value index = LLVM::SubOp::create(builder, loc, count, constant(wide, 1));
    Value descriptor = load(element(slots, index));
    LLVM::CondBrOp::create(builder, loc, isNull(descriptor), loop, ValueRange{index}, destroy, ValueRange());

    builder.setInsertionPointToStart(destroy);
    call(destroyDescriptor, {pointer}, descriptor);
    LLVM::BrOp::create(builder, loc, index, loop);

    builder.setInsertionPointToStart(done);
    for (auto [index, type] : llvm::enumerate(source.getBody().front().getTerminator()->getOperandTypes()))
      if (isa<DescriptorType>(type))
        LLVM::StoreOp::create(builder, loc, null(), resultAddress(index));
    LLVM::ReturnOp::create(builder, loc, failed->getArgument(0));
  }

  OpBuilder &builder;
  Constants &constants;
  LLVM::LLVMFuncOp func;
  cudnn_backend::FuncOp source;
  Type word, wide, pointer;
  Location loc = UnknownLoc::get(builder.getContext());
  llvm::DenseMap<Value, int32_t> slotOf;
  llvm::DenseMap<Value, Value> numbers;
  Block *failed = nullptr;
  Value slots, given, list, number;
  Value createDescriptor, setAttribute, finalize, destroyDescriptor;
};

struct LowerFunc : public ConvertOpToLLVMPattern<cudnn_backend::FuncOp> {
  explicit LowerFunc(const LLVMTypeConverter &converter) : ConvertOpToLLVMPattern(converter), constants(std::make_shared<Constants>()) {}

  LogicalResult matchAndRewrite(cudnn_backend::FuncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Type pointer = LLVM::LLVMPointerType::get(getContext());
    // The table, the arguments, and an address a result.
    size_t count = 1 + op.getBody().getNumArguments() + op.getBody().front().getTerminator()->getNumOperands();
    auto type = LLVM::LLVMFunctionType::get(rewriter.getI32Type(), SmallVector<Type>(count, pointer));
    auto func = LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getSymName(), type);
    // It runs once a load and does nothing but call: optimizing takes three times as long to compile and makes it no smaller.
    func.setOptimizeNone(true);
    func.setNoInline(true);
    Emitter(rewriter, *constants, func, op).emit();
    rewriter.eraseOp(op);
    return success();
  }

  /// Equal payloads and texts are shared by the builders of a module.
  std::shared_ptr<Constants> constants;
};

} // namespace

void convoy::populateCudnnBackendFuncToLLVMPatterns(LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerFunc>(converter);
}
