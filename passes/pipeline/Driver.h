// The border between the compiler (no exceptions) and the Python extension (exceptions): plain
// values only, no MLIR header.

#ifndef CONVOY_PASSES_PIPELINE_DRIVER_H
#define CONVOY_PASSES_PIPELINE_DRIVER_H

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy {

/// One diagnostic; notes follow the error that they belong to with severity "note".
struct Diagnostic {
  std::string severity; ///< "error", "warning", "remark" or "note"
  std::string file;     ///< empty when the location has no file
  int line = 0;
  int column = 0;
  std::string message;
};

/// What a compilation may choose, as text: the names of PipelineOptions and their values.
using Options = std::vector<std::pair<std::string, std::string>>;

/// What is wrong with options, as text; empty when nothing is.
std::string optionError(const Options &options);

/// Names and summaries of the phases, in order.
std::vector<std::pair<std::string, std::string>> phases();

/// Called after each phase with its name and the module's text.
using DumpPhase = std::function<void(const std::string &phase, const std::string &text)>;

/// Parses `text` (named `name` in locations), runs the phases after `from` up to `to`, and stores
/// the module's text. False on failure, with the reasons in `diagnostics` and the name of the phase
/// that failed in `failedPhase`.
bool runPhases(std::string_view text, const std::string &name, const std::string &from,
               const std::string &to, const Options &options, const DumpPhase &dump,
               std::string &result, std::string &failedPhase, std::vector<Diagnostic> &diagnostics);

/// What a compilation makes: the native library, PTX of the generated kernels (may be empty), and
/// its part of manifest.json.
struct Artifact {
  std::string native;
  std::map<std::string, std::string> ptx; ///< as of Emitted
  std::string manifest;
};

/// Like runPhases up to the last phase, then emits code without going through text again.
/// `failedPhase` is "emit" for what fails there.
bool compile(std::string_view text, const std::string &name, const std::string &from,
             const Options &options, const DumpPhase &dump, Artifact &result,
             std::string &failedPhase, std::vector<Diagnostic> &diagnostics);

/// Compiles the graphs of a module alone, those of inline `cudnn.build_and_exec_graph`s too: a
/// program that has their build functions and runs nothing. What else the module holds need not be
/// of any phase.
bool compileGraphs(std::string_view text, const std::string &name, Artifact &result,
                   std::vector<Diagnostic> &diagnostics);

/// The version of LLVM that generates the code, "22.1.8".
std::string llvmVersion();

/// Parses and verifies `text`.
bool verify(std::string_view text, const std::string &name, std::vector<Diagnostic> &diagnostics);

/// Parses `text` and runs a textual pass pipeline on it. The result is text for an MLIR that does
/// not know our dialects, as that of torch-mlir.
bool runPipeline(std::string_view text, const std::string &name, const std::string &pipeline,
                 std::string &result, std::vector<Diagnostic> &diagnostics);

/// The oldest cuDNN that compiled programs run with, as CUDNN_VERSION: 90200 is 9.2.0.
int minimumCudnn();

/// A number of cuDNN's backend API and its name: of a descriptor kind (category "descriptor"), an
/// attribute ("attribute"), an attribute's type ("type"), or an enumerator (the name of its type,
/// as "data_type").
struct BackendName {
  std::string category;
  std::string name;
  int number;
};

/// The descriptor table's names.
std::vector<BackendName> backendNames();

/// A role of an operation in a group: its name, its position (prologue, operand or epilogue), its
/// pointwise mode, and what its second operand is; that is empty where there is none.
struct GroupRole {
  std::string name, position, mode, extent;
};

/// Every role that the support table can have.
std::vector<GroupRole> groupRoles();

} // namespace convoy

#endif // CONVOY_PASSES_PIPELINE_DRIVER_H
