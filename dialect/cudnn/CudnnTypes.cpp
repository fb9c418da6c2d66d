// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The types of the cudnn dialect: memory layout, verification and assembly format.

#include "dialect/cudnn/CudnnOps.h"
#include "dialect/cudnn/CudnnShapes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy::cudnn;

#define GET_TYPEDEF_CLASSES
#include "dialect/cudnn/CudnnTypes.cpp.inc"

void CudnnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/cudnn/CudnnTypes.cpp.inc"
      >();
}

/// Name of a packed layout by rank; empty if there is none.
static StringRef layoutName(int64_t rank, bool channelsLast) {
  switch (rank) {
  case 3:
    return channelsLast ? "NWC" : "NCW";
  case 4:
    return channelsLast ? "NHWC" : "NCHW";
  case 5:
    return channelsLast ? "NDHWC" : "NCDHW";
  default:
    return "";
  }
}

TensorDescType TensorDescType::get(ArrayRef<int64_t> shape, Type elementType, bool channelsLast,
                                   int64_t alignment) {
  return get(shape, elementType, channelsLast ? channelsLastStrides(shape) : rowMajorStrides(shape),
             alignment);
}

TensorDescType TensorDescType::get(ArrayRef<int64_t> shape, Type elementType,
                                   ArrayRef<int64_t> strides, int64_t alignment) {
  return get(elementType.getContext(), shape, elementType, strides, alignment, /*vectorCount=*/1,
             /*vectorizedDimension=*/0, TensorReordering::None);
}

SmallVector<int64_t> TensorDescType::getLogicalShape() const {
  SmallVector<int64_t> shape(getShape());
  shape[getVectorizedDimension()] *= getVectorCount();
  return shape;
}

bool TensorDescType::isChannelsLast() const {
  return getStrides() == ArrayRef<int64_t>(channelsLastStrides(getShape()));
}

bool TensorDescType::isRowMajor() const {
  return getStrides() == ArrayRef<int64_t>(rowMajorStrides(getShape()));
}

/// The dims of size other than 1, by descending stride.
static SmallVector<int64_t> dimsByStride(TensorDescType type) {
  SmallVector<int64_t> dims;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (size != 1)
      dims.push_back(i);
  llvm::sort(dims, [&](int64_t a, int64_t b) {
    return std::pair(-type.getStrides()[a], a) < std::pair(-type.getStrides()[b], b);
  });
  return dims;
}

bool TensorDescType::isPacked() const {
  // A variable, because llvm::reverse does not extend the lifetime of a temporary.
  SmallVector<int64_t> dims = dimsByStride(*this);
  int64_t step = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    if (getStrides()[dim] != step)
      return false;
    step *= getShape()[dim];
  }
  return true;
}

SmallVector<int64_t> TensorDescType::getPhysicalShape() const {
  SmallVector<int64_t> shape;
  if (isRowMajor()) {
    llvm::append_range(shape, getShape());
  } else if (isChannelsLast()) {
    llvm::append_range(shape, getShape());
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  } else {
    // Dims of size 1 come first, so that the rank is unchanged.
    SmallVector<int64_t> dims = dimsByStride(*this);
    shape.assign(getRank() - dims.size(), 1);
    for (int64_t dim : dims)
      shape.push_back(getShape()[dim]);
  }
  if (isVectorized())
    shape.push_back(getVectorCount());
  return shape;
}

bool TensorDescType::isSameMemoryAs(ArrayRef<int64_t> shape) const {
  auto isMore = [](int64_t size) { return size != 1; };
  SmallVector<int64_t> own, other;
  llvm::copy_if(getPhysicalShape(), std::back_inserter(own), isMore);
  llvm::copy_if(shape, std::back_inserter(other), isMore);
  return isPacked() && own == other;
}

bool convoy::cudnn::isElementType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return isa<Float32Type, Float64Type>(complex.getElementType());
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless()
               ? llvm::is_contained({1u, 4u, 8u, 32u, 64u}, integer.getWidth())
               : integer.isUnsigned() && llvm::is_contained({4u, 8u, 32u}, integer.getWidth());
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type,
             Float8E8M0FNUType, Float4E2M1FNType>(type);
}

/// Whether `reordering` applies to elements of `type`.
static bool allowsReordering(Type type, TensorReordering reordering) {
  switch (reordering) {
  case TensorReordering::None:
    return true;
  case TensorReordering::Int8x32:
    return type.isSignlessInteger(8);
  case TensorReordering::F16x16:
    return isa<Float16Type, BFloat16Type>(type);
  case TensorReordering::F8_128x4:
    return isa<Float8E8M0FNUType, Float8E4M3FNType>(type);
  }
  llvm_unreachable("every reordering is above");
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> shape, Type elementType,
                                     ArrayRef<int64_t> strides, int64_t alignment,
                                     int64_t vectorCount, int64_t vectorizedDimension,
                                     TensorReordering reordering) {
  // tensor_desc_c1
  if (shape.empty() || shape.size() > 8)
    return emitError() << "expects a tensor descriptor of 1 to 8 dims, but got " << shape.size();
  for (int64_t size : shape)
    if (size < 1)
      return emitError() << "expects static dims of at least 1 in a tensor descriptor, but got "
                         << (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  // tensor_desc_c2
  if (!isElementType(elementType))
    return emitError() << "expects an element type of cuDNN, but got " << elementType;
  // tensor_desc_c3
  if (strides.size() != shape.size())
    return emitError() << "expects " << shape.size() << " strides, but got " << strides.size();
  for (int64_t stride : strides)
    if (stride < 1)
      return emitError() << "expects strides of at least 1, but got " << stride;
  // tensor_desc_c4
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitError() << "expects an alignment that is a power of two, but got " << alignment;
  // tensor_desc_c5
  if (vectorCount < 1)
    return emitError() << "expects 'vector_count' above 1, but got " << vectorCount;
  if (vectorCount > 1 && elementType.isInteger(8)) {
    bool isSigned = elementType.isSignlessInteger();
    if (vectorCount != 4 && !(isSigned && vectorCount == 32))
      return emitError() << "expects 'vector_count' " << (isSigned ? "4 or 32" : "4") << " for "
                         << elementType << ", but got " << vectorCount;
  }
  if (vectorizedDimension < 0 || vectorizedDimension >= static_cast<int64_t>(shape.size()))
    return emitError() << "expects 'vectorized_dimension' in 0 to " << shape.size() - 1
                       << ", but got " << vectorizedDimension;
  // tensor_desc_c6
  if (!allowsReordering(elementType, reordering))
    return emitError() << "expects no reordering '" << stringifyTensorReordering(reordering)
                       << "' for " << elementType;
  return success();
}

namespace {

/// The parts of a tensor descriptor's assembly format after the element type.
struct DescriptorText {
  std::optional<int64_t> alignment, vectorCount, vectorizedDimension;
  std::optional<TensorReordering> reordering;
  SmallVector<int64_t> strides;
  bool hasOrder = false, channelsLast = false;

  ParseResult parseNumber(AsmParser &parser, SMLoc place, StringRef keyword,
                          std::optional<int64_t> &number) {
    if (number)
      return parser.emitError(place, "expects one ") << keyword;
    return failure(parser.parseEqual() || parser.parseInteger(number.emplace()));
  }

  ParseResult parsePart(AsmParser &parser, int64_t rank) {
    SMLoc place = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    if (keyword == "alignment")
      return parseNumber(parser, place, keyword, alignment);
    if (keyword == "vector_count")
      return parseNumber(parser, place, keyword, vectorCount);
    if (keyword == "vectorized_dimension")
      return parseNumber(parser, place, keyword, vectorizedDimension);
    if (keyword == "reordering") {
      StringRef name;
      SMLoc start;
      if (parser.parseEqual() || (start = parser.getCurrentLocation(), parser.parseKeyword(&name)))
        return failure();
      if (!(reordering = symbolizeTensorReordering(name)))
        return parser.emitError(start,
                                "expects reordering none, int8x32, f16x16 or f8_128x4, but got '")
               << name << "'";
      return success();
    }
    if (hasOrder)
      return parser.emitError(place, "expects one layout or 'stride'");
    hasOrder = true;
    if (keyword == "stride") {
      auto parseStride = [&]() -> ParseResult {
        return parser.parseInteger(strides.emplace_back());
      };
      return failure(parser.parseEqual() ||
                     parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride));
    }
    channelsLast = keyword == layoutName(rank, /*channelsLast=*/true);
    if (channelsLast || keyword == layoutName(rank, /*channelsLast=*/false))
      return success();
    InFlightDiagnostic diag = parser.emitError(
        place,
        "expects 'alignment', 'stride', 'vector_count', 'vectorized_dimension', 'reordering'");
    if (!layoutName(rank, true).empty())
      diag << ", " << layoutName(rank, true) << " or " << layoutName(rank, false);
    return diag << ", but got '" << keyword << "'";
  }
};

} // namespace

Type TensorDescType::parse(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(elementType))
    return {};
  DescriptorText text;
  while (succeeded(parser.parseOptionalComma()))
    if (text.parsePart(parser, shape.size()))
      return {};
  if (parser.parseGreater())
    return {};
  if (text.vectorCount.has_value() != text.vectorizedDimension.has_value()) // tensor_desc_c5
    return parser.emitError(start, "expects 'vector_count' and 'vectorized_dimension' together"),
           Type();
  if (text.vectorCount == 1) // tensor_desc_c5
    return parser.emitError(start, "expects 'vector_count' above 1, but got 1"), Type();
  if (text.strides.empty() && llvm::all_of(shape, [](int64_t size) { return size > 0; }))
    text.strides = text.channelsLast ? channelsLastStrides(shape) : rowMajorStrides(shape);
  return parser.getChecked<TensorDescType>(
      start, parser.getContext(), shape, elementType, text.strides,
      text.alignment.value_or(kDefaultAlignment), text.vectorCount.value_or(1),
      text.vectorizedDimension.value_or(0), text.reordering.value_or(TensorReordering::None));
}

void TensorDescType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (isRowMajor()) {
    if (getRank() > 3)
      if (StringRef name = layoutName(getRank(), /*channelsLast=*/false); !name.empty())
        printer << ", " << name;
  } else if (isChannelsLast() && !layoutName(getRank(), /*channelsLast=*/true).empty()) {
    printer << ", " << layoutName(getRank(), /*channelsLast=*/true);
  } else {
    printer << ", stride = [";
    llvm::interleaveComma(getStrides(), printer);
    printer << "]";
  }
  if (getAlignment() != kDefaultAlignment)
    printer << ", alignment = " << getAlignment();
  if (isVectorized())
    printer << ", vector_count = " << getVectorCount()
            << ", vectorized_dimension = " << getVectorizedDimension();
  if (getReordering() != TensorReordering::None)
    printer << ", reordering = " << stringifyTensorReordering(getReordering());
  printer << ">";
}
