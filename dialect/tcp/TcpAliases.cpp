// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ops of mlir-tcp (https://github.com/cruise-automation/mlir-tcp) that this dialect spells
// differently. Their custom form parses as this dialect's op where the meaning is the same, and is
// an error with the difference otherwise. docs/tcp.md lists them.

#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace convoy::tcp;

/// `tcp.const {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>`
static ParseResult parseConst(OpAsmParser &parser, OperationState &result) {
  NamedAttrList attributes;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes) || parser.parseColonType(type))
    return failure();
  auto value = dyn_cast_or_null<TypedAttr>(attributes.erase("value"));
  if (!value || value.getType() != type)
    return parser.emitError(loc, "expects 'value' to be elements of type ") << type;
  result.name = OperationName(arith::ConstantOp::getOperationName(), parser.getContext());
  result.getOrAddProperties<arith::ConstantOp::Properties>().value = value;
  result.addAttributes(attributes);
  result.addTypes(type);
  return success();
}

/// Parses operands, attributes and types of an elementwise op, as the op `name`.
static ParseResult parseAs(StringRef name, OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonTypeList(types) || parser.parseArrow() || parser.parseType(type) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.name = OperationName(name, parser.getContext());
  result.addTypes(type);
  return success();
}

static ParseResult parseDivF(OpAsmParser &parser, OperationState &result) {
  return parseAs(DivOp::getOperationName(), parser, result);
}

static ParseResult parseRoundEven(OpAsmParser &parser, OperationState &result) {
  return parseAs(RoundOp::getOperationName(), parser, result);
}

/// Whether `value` is defined in `region`, which has no parent yet.
static bool isInside(Value value, Region &region) {
  Region *parent = value.getParentRegion();
  while (parent && parent != &region)
    parent = parent->getParentRegion();
  return parent;
}

/// `tcp.group { ... tcp.yield %y : T } : T`. The values from outside become operands.
static ParseResult parseGroup(OpAsmParser &parser, OperationState &result) {
  Region &region = *result.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(region) ||
      parser.parseColonTypeList(result.types))
    return failure();
  if (!region.hasOneBlock() || region.front().getNumArguments())
    return parser.emitError(loc, "expects a body of one block without arguments");
  llvm::MapVector<Value, SmallVector<OpOperand *>> outside;
  region.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!isInside(operand.get(), region))
        outside[operand.get()].push_back(&operand);
  });
  for (auto &[value, uses] : outside) {
    BlockArgument argument = region.front().addArgument(value.getType(), value.getLoc());
    for (OpOperand *use : uses)
      use->set(argument);
    result.addOperands(value);
  }
  result.name = OperationName(IsolatedGroupOp::getOperationName(), parser.getContext());
  return success();
}

/// Why this dialect has no op `name` of mlir-tcp; empty for other names.
static StringRef reasonAgainst(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"atan", "atan2"}, "it has no inverse trigonometric functions")
      .Cases({"divsi", "divui"}, "its 'tcp.div' of signed integers always rounds toward zero")
      .Case("gather_nd", "tcp.gather and tcp.index_select have the indices of one dim")
      .Case("custom_op", "it has no opaque ops, because each op has a lowering")
      .Default("");
}

static ParseResult parseMissing(OpAsmParser &parser, OperationState &result) {
  StringRef name = result.name.stripDialect();
  return parser.emitError(parser.getNameLoc(), "'tcp.")
         << name << "' of mlir-tcp is not in this dialect: " << reasonAgainst(name);
}

std::optional<Dialect::ParseOpHook> TcpDialect::getParseOperationHook(StringRef opName) const {
  StringRef name = opName;
  name.consume_front("tcp.");
  if (name == "const")
    return ParseOpHook(parseConst);
  if (name == "divf")
    return ParseOpHook(parseDivF);
  if (name == "round_even")
    return ParseOpHook(parseRoundEven);
  if (name == "group")
    return ParseOpHook(parseGroup);
  if (!reasonAgainst(name).empty())
    return ParseOpHook(parseMissing);
  return Dialect::getParseOperationHook(opName);
}
