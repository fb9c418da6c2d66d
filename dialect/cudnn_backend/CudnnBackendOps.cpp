// Registration, builders, parsers and printers of the cudnn_backend dialect.

#include "dialect/cudnn_backend/CudnnBackendOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy::cudnn_backend;

//===-- fields of types and attributes -----------------------------------------------------------------------------------===//

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
  return parser.emitError(loc, "expected the name of a descriptor's attribute, but got '") << name << "'";
}

//===-- set --------------------------------------------------------------------------------------------------------------===//

/// [1, 1], half, "text", true, 1.0 : f32, %handle, (%a, %b).
static ParseResult parseValue(OpAsmParser &parser, Attribute &value, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &elements) {
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseOperandList(elements) || parser.parseRParen());
  OpAsmParser::UnresolvedOperand operand;
  if (OptionalParseResult result = parser.parseOptionalOperand(operand); result.has_value()) {
    elements.push_back(operand);
    return *result;
  }
  if (succeeded(parser.parseOptionalLSquare())) {
    SmallVector<int64_t> numbers;
    if (failed(parser.parseOptionalRSquare()) &&
        (parser.parseCommaSeparatedList([&] { return parser.parseInteger(numbers.emplace_back()); }) || parser.parseRSquare()))
      return failure();
    value = parser.getBuilder().getDenseI64ArrayAttr(numbers);
    return success();
  }
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
  } else if (auto name = dyn_cast<StringAttr>(value); name && op.getValueType() != AttributeType::character) {
    printer << name.getValue();
  } else {
    printer << value;
  }
}

std::optional<AttributeType> SetOp::getValueType() {
  const AttributeInfo &info = get(getName().getValue());
  auto taken = [&](AttributeType type) { return info.takes(type) ? std::optional(type) : std::nullopt; };
  std::optional<Attribute> value = getValue();
  if (!value) {
    if (getElements().empty())
      return std::nullopt;
    bool isHandle = llvm::all_of(getElements(), [](Value element) { return isa<HandleType>(element.getType()); });
    bool isDescriptor = llvm::all_of(getElements(), [](Value element) { return isa<DescriptorType>(element.getType()); });
    return isHandle ? taken(AttributeType::handle) : isDescriptor ? taken(AttributeType::descriptor) : std::nullopt;
  }
  if (!getElements().empty())
    return std::nullopt;
  return llvm::TypeSwitch<Attribute, std::optional<AttributeType>>(*value)
      .Case([&](DenseI64ArrayAttr) { return taken(info.takes(AttributeType::int32) ? AttributeType::int32 : AttributeType::int64); })
      .Case([&](FloatAttr number) { return taken(number.getType().isF32() ? AttributeType::float32 : AttributeType::float64); })
      .Case([&](StringAttr) { return hasEnumerators(info.type) ? std::optional(info.type) : taken(AttributeType::character); })
      .Case([&](BoolAttr) { return taken(AttributeType::boolean); })
      .Default([](Attribute) { return std::nullopt; });
}

int64_t SetOp::getCount() {
  if (!getElements().empty())
    return getElements().size();
  if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(getValueAttr()))
    return numbers.size();
  // The null that ends a text counts.
  auto text = dyn_cast_or_null<StringAttr>(getValueAttr());
  return text && getValueType() == AttributeType::character ? text.size() + 1 : 1;
}

//===-- func -------------------------------------------------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  auto *block = new Block();
  block->addArgument(HandleType::get(builder.getContext()), state.location);
  state.addRegion()->push_back(block);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  OpAsmParser::Argument handle;
  handle.type = HandleType::get(parser.getContext());
  return failure(parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) || parser.parseLParen() ||
                 parser.parseArgument(handle) || parser.parseRParen() || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), handle));
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  printer.printOperand(getHandle());
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), getSymNameAttrName().getValue());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===-- generated --------------------------------------------------------------------------------------------------------===//

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
