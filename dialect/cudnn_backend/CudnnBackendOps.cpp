// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registration, builders, parsers and printers of the cudnn_backend dialect.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

//===-- type and attribute parameters --------------------------------------===//

FailureOr<DescriptorKind> FieldParser<DescriptorKind>::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (std::optional<DescriptorKind> kind = lookupDescriptor(name))
    return *kind;
  return parser.emitError(loc, "expected a kind of descriptor, but got '") << name << "'";
}

FailureOr<AttributeName> FieldParser<AttributeName>::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (std::optional<AttributeName> attribute = lookupAttribute(name))
    return *attribute;
  return parser.emitError(loc, "expected the name of a descriptor's attribute, but got '")
         << name << "'";
}

//===-- set ----------------------------------------------------------------===//

/// `[1, 1]` or `[1 : 2, 3 : 1]`.
static ParseResult parseNumbers(OpAsmParser &parser, Attribute &value) {
  SmallVector<int64_t> numbers;
  bool isFractions = false;
  auto number = [&]() -> ParseResult {
    if (parser.parseInteger(numbers.emplace_back()))
      return failure();
    bool isFraction = succeeded(parser.parseOptionalColon());
    if (isFraction != isFractions && numbers.size() > 1)
      return parser.emitError(parser.getCurrentLocation(),
                              "expected a list of integers or a list of fractions, but got both");
    isFractions = isFraction;
    return isFraction ? parser.parseInteger(numbers.emplace_back()) : success();
  };
  if (failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(number) || parser.parseRSquare()))
    return failure();
  value = isFractions ? Attribute(FractionsAttr::get(parser.getContext(), numbers))
                      : parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

/// `[1, 1]`, `half`, `"text"`, `true`, `1.0 : f32`, `%handle`, `(%a, %b)` or `()`.
static ParseResult parseValue(OpAsmParser &parser, Attribute &value,
                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &elements) {
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseOperandList(elements) || parser.parseRParen());
  OpAsmParser::UnresolvedOperand operand;
  if (OptionalParseResult result = parser.parseOptionalOperand(operand); result.has_value()) {
    elements.push_back(operand);
    return *result;
  }
  if (succeeded(parser.parseOptionalLSquare()))
    return parseNumbers(parser, value);
  Builder &builder = parser.getBuilder();
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    value = builder.getStringAttr(text);
    return success();
  }
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    if (keyword == "true" || keyword == "false")
      value = builder.getBoolAttr(keyword == "true");
    else
      value = builder.getStringAttr(keyword);
    return success();
  }
  return parser.parseAttribute(value);
}

static void printValue(OpAsmPrinter &printer, SetOp op, Attribute value, OperandRange elements) {
  if (!value) {
    bool single = elements.size() == 1;
    printer << (single ? "" : "(") << elements << (single ? "" : ")");
  } else if (auto numbers = dyn_cast<DenseI64ArrayAttr>(value)) {
    printer << "[";
    numbers.printWithoutBraces(printer.getStream());
    printer << "]";
  } else if (auto fractions = dyn_cast<FractionsAttr>(value)) {
    ArrayRef<int64_t> numbers = fractions.getNumbers();
    printer << "[";
    for (size_t index = 0; index + 1 < numbers.size(); index += 2)
      printer << (index ? ", " : "") << numbers[index] << " : " << numbers[index + 1];
    printer << "]";
  } else if (auto name = dyn_cast<StringAttr>(value);
             name && op.getValueType() != AttributeType::character) {
    printer << name.getValue();
  } else {
    printer << value;
  }
}

std::optional<AttributeType> SetOp::getValueType() {
  const AttributeInfo &info = get(getName().getValue());
  auto taken = [&](AttributeType type) {
    return info.takes(type) ? std::optional(type) : std::nullopt;
  };
  std::optional<Attribute> value = getValue();
  if (!value) {
    auto all = [&](auto isOne) { return llvm::all_of(getElements().getTypes(), isOne); };
    if (getElements().empty()) // `()`
      return taken(AttributeType::descriptor);
    if (all(llvm::IsaPred<HandleType>))
      return taken(AttributeType::handle);
    if (all(llvm::IsaPred<DescriptorType>))
      return taken(AttributeType::descriptor);
    return all(llvm::IsaPred<LLVM::LLVMPointerType>) ? taken(AttributeType::void_ptr)
                                                     : std::nullopt;
  }
  if (!getElements().empty())
    return std::nullopt;
  return llvm::TypeSwitch<Attribute, std::optional<AttributeType>>(*value)
      .Case([&](DenseI64ArrayAttr) {
        return taken(info.takes(AttributeType::int32) ? AttributeType::int32
                                                      : AttributeType::int64);
      })
      .Case([&](FractionsAttr) { return taken(AttributeType::fraction); })
      .Case([&](FloatAttr number) {
        return taken(number.getType().isF32() ? AttributeType::float32 : AttributeType::float64);
      })
      .Case([&](StringAttr) {
        return hasEnumerators(info.type) ? std::optional(info.type)
                                         : taken(AttributeType::character);
      })
      .Case([&](BoolAttr) { return taken(AttributeType::boolean); })
      .Default([](Attribute) { return std::nullopt; });
}

int64_t SetOp::getCount() {
  if (!getValue())
    return getElements().size();
  if (auto fractions = dyn_cast<FractionsAttr>(*getValue()))
    return fractions.getNumbers().size() / 2;
  if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(getValueAttr()))
    return numbers.size();
  // A string includes its null terminator.
  auto text = dyn_cast_or_null<StringAttr>(getValueAttr());
  return text && getValueType() == AttributeType::character ? text.size() + 1 : 1;
}

//===-- func ---------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  auto *block = new Block();
  block->addArgument(HandleType::get(builder.getContext()), state.location);
  state.addRegion()->push_back(block);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  // The first argument is the handle, whose type is implicit.
  auto argument = [&] {
    bool isHandle = arguments.empty();
    OpAsmParser::Argument &next = arguments.emplace_back();
    next.type = HandleType::get(parser.getContext());
    return parser.parseArgument(next, /*allowType=*/!isHandle);
  };
  return failure(parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, argument) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  printer.printOperand(getHandle());
  for (BlockArgument argument : getFurtherArguments()) {
    printer << ", ";
    printer.printRegionArgument(argument);
  }
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), getSymNameAttrName().getValue());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===-- return -------------------------------------------------------------===//

/// E.g. `<operationgraph>, i64`.
static ParseResult parseResultTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList([&] {
    Type &type = types.emplace_back();
    if (OptionalParseResult result = parser.parseOptionalType(type); result.has_value())
      return *result;
    type = DescriptorType::parse(parser);
    return ParseResult(failure(!type));
  });
}

static void printResultTypes(OpAsmPrinter &printer, ReturnOp, TypeRange types) {
  llvm::interleaveComma(types, printer, [&](Type type) {
    if (auto descriptor = dyn_cast<DescriptorType>(type))
      printer.printStrippedAttrOrType(descriptor);
    else
      printer << type;
  });
}

//===-- generated ----------------------------------------------------------===//

#include "dialect/cudnn_backend/CudnnBackendDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/cudnn_backend/CudnnBackendAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/cudnn_backend/CudnnBackendTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/cudnn_backend/CudnnBackendOps.cpp.inc"

void CudnnBackendDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/cudnn_backend/CudnnBackendAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/cudnn_backend/CudnnBackendTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/cudnn_backend/CudnnBackendOps.cpp.inc"
      >();
}
