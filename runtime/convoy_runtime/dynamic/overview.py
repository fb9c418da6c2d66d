# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Describes an artifact with dynamic sizes."""

from __future__ import annotations

from collections.abc import Iterator

from convoy_runtime.artifact import WEIGHTS

from .artifact import DynamicArtifact, point_text

__all__ = ["overview"]


def overview(artifact: DynamicArtifact) -> Iterator[str]:
    """The lines of the description: symbols, inputs, outputs, points, and what they share.

    Args:
        artifact: The artifact.

    Returns:
        The lines.
    """
    manifest = artifact.manifest
    producer = ", ".join(f"{name} {version}" for name, version in manifest.producer.items())
    yield f"target {manifest.target}, dynamic sizes, produced by {producer}"
    yield f"digest {artifact.digest}"
    for symbol in manifest.symbols:
        padding = (
            f"points only: {symbol.unpadded}"
            if symbol.unpadded
            else "values between points run at the next point"
        )
        yield f"symbol {symbol}; {padding}"
    for title, tensors in (("input", manifest.inputs), ("output", manifest.outputs)):
        for tensor in tensors:
            yield f"{title} {tensor}"
    for point, program in zip(manifest.points, artifact.points, strict=True):
        found = program.manifest
        graphs = (
            f", {len(found.called_graphs)} cuDNN graphs, {len(found.kernels)} kernels"
            if found.target == "cuda"
            else ""
        )
        yield (
            f"point {point_text(manifest.symbols, point.values)}: arena "
            f"{found.arena_bytes / 1e6:.2f} MB{graphs}"
        )
    specs = [spec for each in artifact.points for spec in each.manifest.prepared]
    shared = sum({spec.origin: spec.bytes for spec in specs}.values())
    yield (
        f"prepared weights: {shared / 1e6:.2f} MB for all points, "
        f"{sum(spec.bytes for spec in specs) / 1e6:.2f} MB if each had its own"
    )
    arena = max(each.manifest.arena_bytes for each in artifact.points)
    yield f"arena of all points: {arena / 1e6:.2f} MB, that of the largest"
    total = sum(entry.bytes for entry in manifest.files.values())
    weights = manifest.files[WEIGHTS].bytes if WEIGHTS in manifest.files else 0
    yield (
        f"{len(manifest.files)} members: {total / 1e6:.2f} MB, of which weights "
        f"{weights / 1e6:.2f} MB"
    )
