// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/pipeline/Driver.h"
#include "dialect/cudnn/CudnnOps.h"
#include "dialect/tcp/TcpOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/common/Program.h"
#include "passes/emit/Emit.h"
#include "passes/pipeline/Pipeline.h"
#include "passes/pipeline/Registration.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace convoy {

namespace {

/// The cuDNN version of the descriptor table.
constexpr int64_t kTableVersion = 91900;

/// A context with all dialects registered, which collects diagnostics.
class Session {
public:
  explicit Session(std::vector<Diagnostic> &diagnostics)
      : context(makeRegistry()), handler(&context, [&diagnostics](mlir::Diagnostic &diagnostic) {
          append(diagnostic, diagnostics);
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            append(note, diagnostics);
          return success();
        }) {
    // The op's text can be the whole module.
    context.printOpOnDiagnostic(false);
  }

  OwningOpRef<ModuleOp> parse(std::string_view text, const std::string &name) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(StringRef(text.data(), text.size()),
                                                                name,
                                                                /*RequiresNullTerminator=*/false),
                               llvm::SMLoc());
    return parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }

  MLIRContext context;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  static void append(mlir::Diagnostic &diagnostic, std::vector<Diagnostic> &diagnostics) {
    static constexpr const char *severities[] = {"note", "warning", "error", "remark"};
    Diagnostic value;
    value.severity = severities[static_cast<int>(diagnostic.getSeverity())];
    value.message = diagnostic.str();
    if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
      value.file = place.getFilename().str();
      value.line = place.getLine();
      value.column = place.getColumn();
    }
    diagnostics.push_back(std::move(value));
  }

  ScopedDiagnosticHandler handler;
};

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

/// Text for an MLIR without Convoy's dialects: generic form, with all attributes in the discardable
/// dictionary, because that MLIR can parse properties (`<{...}>`) but not list or remove them.
std::string printUnregistered(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Unregistered ops have no isolated regions, so names must be unique.
  module->print(os, OpPrintingFlags().enableDebugInfo().printGenericOpForm().printUniqueSSAIDs());
  MLIRContext context;
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> copy =
      parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
  assert(copy && "generic form of a valid module");
  copy->walk([](Operation *op) {
    if (op->isRegistered())
      return;
    if (auto inherent = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute())) {
      NamedAttrList all(op->getRawDictionaryAttrs());
      all.append(inherent.getValue());
      (void)op->setPropertiesFromAttribute(nullptr, nullptr);
      op->setDiscardableAttrs(all.getDictionary(op->getContext()));
    }
  });
  text.clear();
  copy->print(os, OpPrintingFlags().enableDebugInfo().printGenericOpForm());
  return text;
}

} // namespace

std::vector<std::pair<std::string, std::string>> phases() {
  return {
#define CONVOY_PHASE(name, summary, dialects) {#name, summary},
#include "passes/Phases.def"
  };
}

namespace {

/// Parses and verifies options; fails with the reason in `error`.
LogicalResult parseOptions(const Options &options, PipelineOptions &parsed, std::string &error) {
  std::string text;
  for (const auto &[key, value] : options) {
    // Quote values, which may contain spaces, e.g. paths.
    StringRef quote = value.find('"') == std::string::npos ? "\"" : "'";
    text += (key + "=" + quote + value + quote + " ").str();
  }
  llvm::raw_string_ostream os(error);
  return success(succeeded(parsed.parseFromString(text, os)) &&
                 succeeded(verifyOptions(parsed, error)));
}

/// Overload for the phases after `from` up to `to`; reports errors as diagnostics.
bool parseOptions(const Options &options, const std::string &from, const std::string &to,
                  PipelineOptions &parsed, std::string &failedPhase,
                  std::vector<Diagnostic> &diagnostics) {
  Options all = options;
  all.insert(all.end(), {{"from", from}, {"to", to}});
  std::string error;
  if (succeeded(parseOptions(all, parsed, error)))
    return true;
  failedPhase = "options";
  diagnostics.push_back({"error", "", 0, 0, error});
  return false;
}

/// Runs the phases selected by `options` on a module. Sets the target if the options have none.
bool lower(ModuleOp module, PipelineOptions &options, const DumpPhase &dump,
           std::string &failedPhase) {
  if (options.target.empty())
    options.target = stringifyTarget(programTarget(module).value_or(tcp::Target::Cpu)).str();
  for (StringRef phase : selectedPhases(options)) {
    failedPhase = phase.str();
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    if (phase == selectedPhases(options).front())
      populateEntry(pm, options);
    populatePhase(phase, pm, options);
    if (failed(pm.run(module)))
      return false;
    if (dump)
      dump(failedPhase, print(module));
  }
  return true;
}

} // namespace

bool runPhases(std::string_view text, const std::string &name, const std::string &from,
               const std::string &to, const Options &options, const DumpPhase &dump,
               std::string &result, std::string &failedPhase,
               std::vector<Diagnostic> &diagnostics) {
  Session session(diagnostics);
  failedPhase = from;
  OwningOpRef<ModuleOp> module = session.parse(text, name);
  PipelineOptions parsed;
  if (!module || !parseOptions(options, from, to, parsed, failedPhase, diagnostics) ||
      !lower(*module, parsed, dump, failedPhase))
    return false;
  result = print(*module);
  return true;
}

bool compile(std::string_view text, const std::string &name, const std::string &from,
             const Options &options, const DumpPhase &dump, Artifact &result,
             std::string &failedPhase, std::vector<Diagnostic> &diagnostics) {
  Session session(diagnostics);
  failedPhase = from;
  OwningOpRef<ModuleOp> module = session.parse(text, name);
  PipelineOptions parsed;
  std::string last = phaseNames().back().str();
  if (!module || !parseOptions(options, from, last, parsed, failedPhase, diagnostics))
    return false;
  if (from != last && !lower(*module, parsed, dump, failedPhase))
    return false;
  failedPhase = "emit";
  FailureOr<Emitted> emitted = emitModule(*module, parsed.cpu.getValue());
  if (failed(emitted))
    return false;
  result = {std::move(emitted->native), std::move(emitted->ptx), std::move(emitted->manifest)};
  return true;
}

bool compileGraphs(std::string_view text, const std::string &name, Artifact &result,
                   std::vector<Diagnostic> &diagnostics) {
  Session session(diagnostics);
  OwningOpRef<ModuleOp> module = session.parse(text, name);
  OwningOpRef<ModuleOp> program = session.parse("func.func @main(%arena: memref<0xi8> {tcp.arena}) "
                                                "attributes {tcp.target = \"cuda\"} { return }",
                                                "the program around the graphs");
  if (!module || !program)
    return false;
  PassManager outline(&session.context, ModuleOp::getOperationName());
  outline.addPass(createCudnnOutlineGraphsPass());
  if (failed(outline.run(*module)))
    return false;
  for (auto graph : llvm::make_early_inc_range(module->getOps<cudnn::GraphOp>())) {
    if (program->lookupSymbol(graph.getSymName())) {
      graph.emitOpError("expects a name other than that of the program's function, but got ")
          << graph.getSymNameAttr();
      return false;
    }
    graph->moveBefore(program->getBody(), program->getBody()->end());
  }
  if (program->getOps<cudnn::GraphOp>().empty()) {
    module->emitError("expects a cudnn.graph, or a cudnn.build_and_exec_graph, but got none");
    return false;
  }
  // Unlike graphs of programs, these may use every feature of the descriptor table.
  PassManager build(&session.context, ModuleOp::getOperationName());
  build.addPass(createConvertCudnnGraphsToBackendPass({kTableVersion}));
  if (failed(build.run(*program)))
    return false;
  PipelineOptions options;
  options.target = stringifyTarget(tcp::Target::Cuda).str();
  options.from = "plan";
  std::string failedPhase;
  if (!lower(*program, options, nullptr, failedPhase))
    return false;
  FailureOr<Emitted> emitted = emitModule(*program, options.cpu.getValue());
  if (failed(emitted))
    return false;
  result = {std::move(emitted->native), std::move(emitted->ptx), std::move(emitted->manifest)};
  return true;
}

std::string optionError(const Options &options) {
  PipelineOptions parsed;
  std::string error;
  return succeeded(parseOptions(options, parsed, error)) ? "" : error;
}

std::string llvmVersion() { return LLVM_VERSION_STRING; }

/// Registers the passes of textual pipelines: Convoy's passes and pipelines, canonicalize and cse.
static void registerPasses() {
  registerConvoyPasses();
  registerPipelines();
  registerCanonicalizerPass();
  registerCSEPass();
}

bool programTarget(std::string_view text, const std::string &name, std::string &target,
                   std::vector<Diagnostic> &diagnostics) {
  Session session(diagnostics);
  OwningOpRef<ModuleOp> module = session.parse(text, name);
  if (!module)
    return false;
  std::optional<tcp::Target> found = programTarget(*module);
  target = found ? stringifyTarget(*found).str() : "";
  return true;
}

bool verify(std::string_view text, const std::string &name, std::vector<Diagnostic> &diagnostics) {
  Session session(diagnostics);
  return static_cast<bool>(session.parse(text, name));
}

bool runPipeline(std::string_view text, const std::string &name, const std::string &pipeline,
                 std::string &result, std::vector<Diagnostic> &diagnostics) {
  static const bool registered = (registerPasses(), true);
  (void)registered;
  Session session(diagnostics);
  OwningOpRef<ModuleOp> module = session.parse(text, name);
  if (!module)
    return false;
  std::string message;
  llvm::raw_string_ostream errors(message);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, errors);
  if (failed(parsed)) {
    diagnostics.push_back({"error", "", 0, 0, message});
    return false;
  }
  PassManager pm(&session.context, ModuleOp::getOperationName());
  static_cast<OpPassManager &>(pm) = std::move(*parsed);
  if (failed(pm.run(*module)))
    return false;
  result = printUnregistered(*module);
  return true;
}

} // namespace convoy
