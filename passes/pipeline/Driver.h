// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The interface between the compiler (no exceptions) and the Python extension (exceptions). It uses
// only standard types, no MLIR headers.

#ifndef CONVOY_PASSES_PIPELINE_DRIVER_H
#define CONVOY_PASSES_PIPELINE_DRIVER_H

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy {

/// A diagnostic; the notes of a diagnostic follow it with severity "note".
struct Diagnostic {
  std::string severity; ///< "error", "warning", "remark" or "note"
  std::string file;     ///< empty when the location has no file
  int line = 0;
  int column = 0;
  std::string message;
};

/// Options of a compilation: names of PipelineOptions and their values as text.
using Options = std::vector<std::pair<std::string, std::string>>;

/// The error in `options`, or an empty string if they are valid.
std::string optionError(const Options &options);

/// Names and summaries of the phases, in order.
std::vector<std::pair<std::string, std::string>> phases();

/// Called after each phase with its name and the module's text.
using DumpPhase = std::function<void(const std::string &phase, const std::string &text)>;

/// Parses `text` (named `name` in locations), runs the phases after `from` up to `to`, and stores
/// the module's text in `result`. Returns false on failure, with the errors in `diagnostics` and
/// the name of the phase that failed in `failedPhase`.
bool runPhases(std::string_view text, const std::string &name, const std::string &from,
               const std::string &to, const Options &options, const DumpPhase &dump,
               std::string &result, std::string &failedPhase, std::vector<Diagnostic> &diagnostics);

/// The result of a compilation: the native library, PTX of kernels (may be empty), and the
/// compiler's part of manifest.json.
struct Artifact {
  std::string native;
  std::map<std::string, std::string> ptx; ///< as in Emitted
  std::string manifest;
};

/// Like runPhases up to the last phase, then emits code from the module in memory. `failedPhase` is
/// "emit" if code emission fails.
bool compile(std::string_view text, const std::string &name, const std::string &from,
             const Options &options, const DumpPhase &dump, Artifact &result,
             std::string &failedPhase, std::vector<Diagnostic> &diagnostics);

/// Compiles only the graphs of a module, including those of inline `cudnn.build_and_exec_graph`s,
/// to a program that has their build functions and an empty main function. The other contents of
/// the module are ignored.
bool compileGraphs(std::string_view text, const std::string &name, Artifact &result,
                   std::vector<Diagnostic> &diagnostics);

/// Parses `text` and stores its target in `target`; an empty string if any target is possible.
bool programTarget(std::string_view text, const std::string &name, std::string &target,
                   std::vector<Diagnostic> &diagnostics);

/// The version of LLVM that generates code, e.g. "22.1.8".
std::string llvmVersion();

/// Parses and verifies `text`.
bool verify(std::string_view text, const std::string &name, std::vector<Diagnostic> &diagnostics);

/// Parses `text` and runs a textual pass pipeline on it. The result is text for an MLIR without
/// Convoy's dialects, such as torch-mlir's.
bool runPipeline(std::string_view text, const std::string &name, const std::string &pipeline,
                 std::string &result, std::vector<Diagnostic> &diagnostics);

/// The oldest cuDNN that compiled programs support, as CUDNN_VERSION: 90200 is 9.2.0.
int minimumCudnn();

/// Name and number of a descriptor kind (category "descriptor"), attribute ("attribute"), attribute
/// type ("type") or enumerator (category is the name of its type, e.g. "data_type") of cuDNN's
/// backend API.
struct BackendName {
  std::string category;
  std::string name;
  int number;
};

/// All names of the descriptor table.
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
