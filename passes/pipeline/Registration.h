// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Registers the dialects that the compiler needs: Convoy's, and the upstream dialects of the
// phases.

#ifndef CONVOY_PASSES_PIPELINE_REGISTRATION_H
#define CONVOY_PASSES_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace convoy {

/// Registers only Convoy's dialects, for tools that register all upstream dialects.
void registerConvoyDialects(mlir::DialectRegistry &registry);

/// Registers Convoy's dialects and the upstream dialects, interfaces and translations of the
/// phases.
void registerCompilerDialects(mlir::DialectRegistry &registry);

} // namespace convoy

#endif // CONVOY_PASSES_PIPELINE_REGISTRATION_H
