// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// convoy._convoy: Python bindings of the compiler. Functions take MLIR text and return text and
// bytes; failures raise an exception that holds the diagnostics.

#include "passes/pipeline/Driver.h"
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Carries a failed compilation to Python as `CompilationFailed(phase, [(severity, file, line,
/// column, message), ...])`.
struct CompilationFailed {
  std::string phase;
  std::vector<convoy::Diagnostic> diagnostics;
};

/// (native library, PTX by gpu.module, manifest as JSON text).
using EmittedCode =
    nb::typed<nb::tuple, nb::bytes, std::map<std::string, std::string>, std::string>;
/// (native library, manifest as JSON text).
using EmittedGraphs = nb::typed<nb::tuple, nb::bytes, std::string>;

nb::object failureType;

[[noreturn]] void raise(const CompilationFailed &failure) {
  nb::list diagnostics;
  for (const convoy::Diagnostic &d : failure.diagnostics)
    diagnostics.append(nb::make_tuple(d.severity, d.file, d.line, d.column, d.message));
  PyErr_SetObject(failureType.ptr(), nb::make_tuple(failure.phase, diagnostics).ptr());
  throw nb::python_error();
}

} // namespace

NB_MODULE(_convoy, m) {
  m.doc() = "The Convoy compiler: phases of the pipeline on MLIR text.";
  failureType =
      nb::steal(PyErr_NewException("convoy._convoy.CompilationFailed", PyExc_Exception, nullptr));
  m.attr("CompilationFailed") = failureType;
  m.attr("MINIMUM_CUDNN") = convoy::minimumCudnn();

  m.def("phases", &convoy::phases, "Names and summaries of the phases, in order.");
  m.def(
      "run_phases",
      [](std::string_view text, const std::string &name, const std::string &from,
         const std::string &to, const convoy::Options &options, const convoy::DumpPhase &dump) {
        CompilationFailed failure;
        std::string result;
        if (!convoy::runPhases(text, name, from, to, options, dump, result, failure.phase,
                               failure.diagnostics))
          raise(failure);
        return result;
      },
      "text"_a, "name"_a, "from_phase"_a, "to_phase"_a, "options"_a, "dump"_a.none() = nb::none(),
      "Run the phases after from_phase up to to_phase on a module's text; return the text. "
      "dump(phase, text) is called after each.");
  auto compile = [](std::string_view text, const std::string &name, const std::string &from,
                    const convoy::Options &options, const convoy::DumpPhase &dump) -> EmittedCode {
    CompilationFailed failure;
    convoy::Artifact artifact;
    if (!convoy::compile(text, name, from, options, dump, artifact, failure.phase,
                         failure.diagnostics))
      raise(failure);
    return nb::make_tuple(nb::bytes(artifact.native.data(), artifact.native.size()), artifact.ptx,
                          artifact.manifest);
  };
  m.def("compile", compile, "text"_a, "name"_a, "from_phase"_a, "options"_a,
        "dump"_a.none() = nb::none(),
        "Run every phase after from_phase on a module's text and emit code. Returns (native "
        "library, PTX by gpu.module, manifest as JSON text). A failure of code emission has "
        "the phase 'emit'.");
  m.def(
      "emit",
      [compile](std::string_view text, const std::string &name, const convoy::Options &options) {
        return compile(text, name, "llvm", options, nullptr);
      },
      "text"_a, "name"_a, "options"_a,
      "Emit code for the text of a module at phase llvm. Returns the same as `compile`.");
  m.def(
      "compile_graphs",
      [](std::string_view text, const std::string &name) -> EmittedGraphs {
        CompilationFailed failure{"graphs", {}};
        convoy::Artifact artifact;
        if (!convoy::compileGraphs(text, name, artifact, failure.diagnostics))
          raise(failure);
        return nb::make_tuple(nb::bytes(artifact.native.data(), artifact.native.size()),
                              artifact.manifest);
      },
      "text"_a, "name"_a,
      "Compile only the cudnn graphs of a module's text. Returns (native library, manifest as "
      "JSON text).");
  m.def(
      "backend_names",
      [] {
        std::vector<std::tuple<std::string, std::string, int>> names;
        for (const convoy::BackendName &each : convoy::backendNames())
          names.emplace_back(each.category, each.name, each.number);
        return names;
      },
      "Names and numbers of cuDNN's backend API: (category, name, number); the category is "
      "descriptor, attribute, type or an enum's type.");
  m.def(
      "group_roles",
      [] {
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> roles;
        for (const convoy::GroupRole &each : convoy::groupRoles())
          roles.emplace_back(each.name, each.position, each.mode, each.extent);
        return roles;
      },
      "Roles of operations in groups: (name, position, pointwise mode, extent of the second "
      "operand); the position is prologue, operand or epilogue, and the extent of an operation "
      "with one operand is empty.");
  m.def(
      "check_options",
      [](const convoy::Options &options) {
        if (std::string error = convoy::optionError(options); !error.empty())
          throw nb::value_error(error.c_str());
      },
      "options"_a,
      "Raise ValueError, which names the expected values, for invalid options of "
      "--convoy-pipeline.");
  m.def(
      "program_target",
      [](std::string_view text, const std::string &name) -> std::optional<std::string> {
        CompilationFailed failure{"target", {}};
        std::string target;
        if (!convoy::programTarget(text, name, target, failure.diagnostics))
          raise(failure);
        return target.empty() ? std::nullopt : std::optional(target);
      },
      "text"_a, "name"_a,
      "The target of a module's text, or None if the module can be compiled for any target.");
  m.def("llvm_version", &convoy::llvmVersion, "The version of LLVM that generates code.");
  m.def(
      "verify",
      [](std::string_view text, const std::string &name) {
        CompilationFailed failure{"verify", {}};
        if (!convoy::verify(text, name, failure.diagnostics))
          raise(failure);
      },
      "text"_a, "name"_a, "Parse and verify a module's text.");
  m.def(
      "run_pipeline",
      [](std::string_view text, const std::string &name, const std::string &pipeline) {
        CompilationFailed failure{"pipeline", {}};
        std::string result;
        if (!convoy::runPipeline(text, name, pipeline, result, failure.diagnostics))
          raise(failure);
        return result;
      },
      "text"_a, "name"_a, "pipeline"_a,
      "Run a textual pass pipeline on a module's text; return the text, in generic form with every "
      "attribute in one dictionary.");
}
