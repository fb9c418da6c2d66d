// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which convolutions Winograd's algorithm computes, and how they are divided into tasks, so that
// the buffers of a task stay in the caches.

#ifndef CONVOY_PASSES_CPU_CODEGEN_WINOGRADTILES_H
#define CONVOY_PASSES_CPU_CODEGEN_WINOGRADTILES_H

#include "passes/cpu_codegen/Contraction.h"
#include "passes/cpu_codegen/VectorUnit.h"

namespace convoy {

/// Whether `contraction` has a transformed filter, whole vectors of input channels, and not so many
/// that the transforms of a tile do not fit into the stack.
bool canUseWinograd(const Contraction &contraction, VectorUnit unit);

/// The tasks of a convolution for which canUseWinograd is true. A task has a block of tiles of 2x2
/// outputs in some frames of an image, and a part of the output channels.
struct WinogradTiles {
  WinogradTiles(const Contraction &contraction, VectorUnit unit);

  int64_t columns;     ///< tiles in a row of a frame
  int64_t count;       ///< tiles of a frame
  int64_t group;       ///< tiles whose sums are in registers at the same time
  int64_t block;       ///< tiles of each frame in a task: whole groups
  int64_t frames;      ///< frames of outputs in a task
  int64_t inputFrames; ///< frames of inputs that these read
  int64_t blocks;      ///< blocks of a frame
  int64_t frameBlocks; ///< tasks with other frames of an image
  int64_t parts;       ///< of the output channels
};

} // namespace convoy

#endif // CONVOY_PASSES_CPU_CODEGEN_WINOGRADTILES_H
