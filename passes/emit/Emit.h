// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts a module at phase llvm to the contents of an artifact.

#ifndef CONVOY_PASSES_EMIT_EMIT_H
#define CONVOY_PASSES_EMIT_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include <map>

namespace convoy {

/// The result of a compilation.
struct Emitted {
  std::string native; ///< a shared library
  /// PTX by the name of its `gpu.module`: `kernels` has the generated kernels of the program, every
  /// other module is a kernel for a graph.
  std::map<std::string, std::string> ptx;
  std::string manifest; ///< JSON text; the writer of the artifact adds versions and hashes
};

/// Emits code for `module`, which is at phase llvm, and modifies it. `cpu` is an LLVM CPU name or
/// "native". Errors are reported on the module.
mlir::FailureOr<Emitted> emitModule(mlir::ModuleOp module, llvm::StringRef cpu);

/// Links an object file and the support code to a shared library that exports the ABI's functions;
/// those that enqueue runs only if the program is for a GPU (`isCuda`). Undefined symbols are an
/// error. Returns false with the linker's message in `error` on failure.
bool linkShared(llvm::StringRef object, bool isCuda, std::string &library, std::string &error);

} // namespace convoy

#endif // CONVOY_PASSES_EMIT_EMIT_H
