// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/normalize/KeptOps.h"
#include "dialect/tcp/TcpOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::tcp;

namespace {

/// The place of ops on the parts of complex numbers (python/convoy/complex_numbers.py).
constexpr StringLiteral kComplexPlace = "<complex>:1";

/// The names that select an op.
struct Names {
  StringRef type;
  SmallVector<std::string> places; ///< `/path/model.py:12`
  SmallVector<StringRef> weights;  ///< those that its operands are computed from alone
};

/// Collects the names of the weights in the operands of each op.
class WeightNames {
public:
  explicit WeightNames(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                            convoy::tcp::kWeightAttr))
        found[argument].insert(name.getValue());
      else
        data.insert(argument);
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { add(op); });
  }

  /// The weights of the operands of `op` that depend on no input.
  SmallVector<StringRef> operator()(Operation *op) const {
    llvm::SetVector<StringRef> names;
    for (Value operand : op->getOperands())
      if (auto it = found.find(operand); it != found.end())
        names.insert_range(it->second);
    return names.takeVector();
  }

private:
  void add(Operation *op) {
    bool isData = llvm::any_of(op->getOperands(), [&](Value each) { return data.contains(each); });
    SmallVector<StringRef> names = isData ? SmallVector<StringRef>() : (*this)(op);
    for (Value result : op->getResults()) {
      if (isData)
        data.insert(result);
      else
        found[result].insert_range(names);
    }
    if (auto scan = dyn_cast<ScanOp>(op))
      addArguments(scan, isData);
  }

  /// The block arguments of a scan are its operands; the state depends on all of them.
  void addArguments(ScanOp scan, bool isData) {
    for (auto [operand, argument] :
         llvm::zip_equal(scan.getOperands(), scan.getBody().getArguments())) {
      bool isState = argument.getArgNumber() < scan.getCarried().size();
      if ((isState && isData) || data.contains(operand))
        data.insert(argument);
      else if (auto it = found.find(operand); it != found.end())
        found[argument] = llvm::SetVector<StringRef>(it->second);
    }
  }

  llvm::DenseMap<Value, llvm::SetVector<StringRef>> found;
  llvm::DenseSet<Value> data; ///< values that depend on an input
};

} // namespace

static Names namesOf(Operation *op, const WeightNames &weights) {
  Names names{op->getName().getStringRef(), {}, weights(op)};
  op->getLoc()->walk([&](Location each) {
    if (auto place = dyn_cast<FileLineColLoc>(each))
      names.places.push_back((place.getFilename().getValue() + ":" + Twine(place.getLine())).str());
    return WalkResult::advance();
  });
  return names;
}

/// Whether `name` is `whole`, or its end after a separator.
static bool isEnd(StringRef whole, StringRef name, char separator) {
  return whole == name || (whole.consume_back(name) && whole.ends_with(separator));
}

/// Whether `name` is `whole`, or its beginning before a dot.
static bool isBeginning(StringRef whole, StringRef name) {
  return whole.consume_front(name) && (whole.empty() || whole.starts_with("."));
}

static bool selects(StringRef name, const Names &op) {
  return isEnd(op.type, name, '.') ||
         llvm::any_of(op.places, [&](StringRef each) { return isEnd(each, name, '/'); }) ||
         llvm::any_of(op.weights, [&](StringRef each) { return isBeginning(each, name); });
}

/// The three names in the function that differ least from `name`.
static SmallVector<std::string> nearest(StringRef name,
                                        ArrayRef<std::pair<Operation *, Names>> ops) {
  SmallVector<std::string> sorted;
  for (const auto &[op, names] : ops) {
    sorted.push_back(names.type.str());
    for (StringRef place : names.places)
      sorted.push_back(name.contains('/') ? place.str() : llvm::sys::path::filename(place).str());
    for (StringRef weight : names.weights)
      sorted.push_back(weight.contains('.') ? weight.rsplit('.').first.str() : weight.str());
  }
  llvm::sort(sorted, [&](const std::string &a, const std::string &b) {
    return std::pair(name.edit_distance(a), StringRef(a)) <
           std::pair(name.edit_distance(b), StringRef(b));
  });
  sorted.erase(llvm::unique(sorted), sorted.end());
  sorted.truncate(std::min<size_t>(sorted.size(), 3));
  return sorted;
}

FailureOr<llvm::DenseSet<Operation *>> convoy::findKeptOps(func::FuncOp function,
                                                           ArrayRef<std::string> names) {
  llvm::DenseSet<Operation *> found;
  if (names.empty())
    return found;
  WeightNames weights(function);
  SmallVector<std::pair<Operation *, Names>> ops;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<arith::ConstantOp>(op) && !op->hasTrait<OpTrait::IsTerminator>())
      ops.emplace_back(op, namesOf(op, weights));
  });
  for (const std::string &name : names) {
    bool any = false;
    for (const auto &[op, its] : ops)
      if (!name.empty() && selects(name, its)) {
        found.insert(op);
        any = true;
      }
    // Simplifications may have removed all ops of the frontend's place.
    if (!any && name != kComplexPlace)
      return function.emitError("expects 'keep-float32' to name a type of op, a line or a module "
                                "of the model, but got '")
             << name << "'; the nearest are " << llvm::join(nearest(name, ops), ", ");
  }
  return found;
}
