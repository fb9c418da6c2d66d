// The types: what a graph's tensors know of memory, and their text.

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

/// Shorthand of a packed layout by rank; matrices and vectors have none.
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

TensorDescType TensorDescType::get(ArrayRef<int64_t> shape, Type elementType, bool channelsLast, int64_t alignment) {
  return get(elementType.getContext(), shape, elementType, channelsLast ? channelsLastStrides(shape) : rowMajorStrides(shape), alignment);
}

bool TensorDescType::isChannelsLast() const { return getStrides() == ArrayRef<int64_t>(channelsLastStrides(getShape())); }

bool TensorDescType::isRowMajor() const { return getStrides() == ArrayRef<int64_t>(rowMajorStrides(getShape())); }

/// The dims of more than one element, slowest in memory first.
static SmallVector<int64_t> dimsByStride(TensorDescType type) {
  SmallVector<int64_t> dims;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (size != 1)
      dims.push_back(i);
  llvm::sort(dims, [&](int64_t a, int64_t b) { return std::pair(-type.getStrides()[a], a) < std::pair(-type.getStrides()[b], b); });
  return dims;
}

bool TensorDescType::isPacked() const {
  int64_t step = 1;
  for (int64_t dim : llvm::reverse(dimsByStride(*this))) {
    if (getStrides()[dim] != step)
      return false;
    step *= getShape()[dim];
  }
  return true;
}

SmallVector<int64_t> TensorDescType::getPhysicalShape() const {
  if (isRowMajor())
    return SmallVector<int64_t>(getShape());
  if (isChannelsLast()) {
    SmallVector<int64_t> shape(getShape());
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    return shape;
  }
  // Dims of size 1 go in front, so that the rank stays.
  SmallVector<int64_t> dims = dimsByStride(*this), shape(getRank() - dims.size(), 1);
  for (int64_t dim : dims)
    shape.push_back(getShape()[dim]);
  return shape;
}

bool TensorDescType::isSameMemoryAs(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> own, other;
  for (int64_t dim : dimsByStride(*this))
    own.push_back(getShape()[dim]);
  llvm::copy_if(shape, std::back_inserter(other), [](int64_t size) { return size != 1; });
  return isPacked() && own == other;
}

TensorDescType TensorDescType::withElementType(Type elementType) const {
  return get(getContext(), getShape(), elementType, getStrides(), getAlignment());
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                                     ArrayRef<int64_t> strides, int64_t alignment) {
  // tensor_desc_c1
  if (shape.empty() || shape.size() > 8)
    return emitError() << "expects a tensor descriptor of 1 to 8 dims, but got " << shape.size();
  for (int64_t size : shape)
    if (size < 1)
      return emitError() << "expects static dims of at least 1 in a tensor descriptor, but got "
                         << (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  // tensor_desc_c2
  bool known = isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(elementType) ||
               elementType.isSignlessInteger(64) || elementType.isSignlessInteger(32) || elementType.isSignlessInteger(8) ||
               elementType.isUnsignedInteger(8) || elementType.isSignlessInteger(1);
  if (!known)
    return emitError() << "expects an element type that cuDNN has, but got " << elementType;
  // tensor_desc_c3
  if (strides.size() != shape.size())
    return emitError() << "expects " << shape.size() << " strides, but got " << strides.size();
  for (int64_t stride : strides)
    if (stride < 1)
      return emitError() << "expects strides of at least 1, but got " << stride;
  // tensor_desc_c4
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitError() << "expects an alignment that is a power of two, but got " << alignment;
  return success();
}

Type TensorDescType::parse(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<int64_t> shape, strides;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(elementType))
    return {};
  int64_t alignment = kDefaultAlignment;
  bool channelsLast = false, hasAlignment = false, hasOrder = false;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc place = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return {};
    if (keyword == "alignment") {
      if (hasAlignment)
        return parser.emitError(place, "expects one alignment"), Type();
      hasAlignment = true;
      if (parser.parseEqual() || parser.parseInteger(alignment))
        return {};
      continue;
    }
    if (hasOrder)
      return parser.emitError(place, "expects one layout or 'stride'"), Type();
    hasOrder = true;
    if (keyword == "stride") {
      auto parseStride = [&]() -> ParseResult { return parser.parseInteger(strides.emplace_back()); };
      if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
        return {};
      continue;
    }
    channelsLast = keyword == layoutName(shape.size(), /*channelsLast=*/true);
    if (!channelsLast && keyword != layoutName(shape.size(), /*channelsLast=*/false)) {
      InFlightDiagnostic diag = parser.emitError(place, "expects 'alignment', 'stride'");
      if (!layoutName(shape.size(), true).empty())
        diag << ", " << layoutName(shape.size(), true) << " or " << layoutName(shape.size(), false);
      diag << ", but got '" << keyword << "'";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (strides.empty() && llvm::all_of(shape, [](int64_t size) { return size > 0; }))
    strides = channelsLast ? channelsLastStrides(shape) : rowMajorStrides(shape);
  return parser.getChecked<TensorDescType>(start, parser.getContext(), shape, elementType, strides, alignment);
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
  printer << ">";
}
