# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Normalizations of rows (layer, RMS and adaptive layer norm) and of images (batch, instance and
group norm), forward and backward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from .graph_text import BYTES, GraphText, Value, desc, key_of
from .operations import OperationCase

__all__ = ["norm_cases"]

_DTYPES = ("f16", "bf16", "f32")
_PHASES = ("inference", "training", "backward")
_ROWS = ("layer_norm", "rms_norm", "ada_layer_norm")
_IMAGES = ("batch_norm", "instance_norm", "group_norm")
#: The parameters that networks usually have.
_USUAL = {"layer_norm": "scale_bias", "rms_norm": "scale", "ada_layer_norm": "scale_bias"}
_PARAMETERS = ("none", "scale", "scale_bias")
#: Operations after a forward norm, or before a backward norm.
_BESIDE = {"inference": ("relu", "add_relu", "gelu"), "training": ("relu", "add_relu", "gelu"),
           "backward": ("after_mask", "after_relu_bwd")}  # fmt: skip
#: Shapes of rows: the leading dims, and the normalized dims. `columns` is the form of
#: cudnn-frontend's samples.
_SHAPES = {"rank2": ((512,), (1024,)), "rank3": ((4, 128), (1024,)), "rank4": ((2, 4, 64),
(1024,)), "two_dims": ((4, 16), (8, 1024)),
           "columns": ((512,), (1024, 1, 1))}  # fmt: skip
_COLUMNS = (1, 66, 1001, 65536)


@dataclass(frozen=True)
class _Norm:
    """One norm.

    Args:
        mode: The mode of the operation.
        phase: inference, training or backward.
        dtype: The element type of x.
        dims: The dims of x.
        kept: The dims that parameters have; others are 1.
        saved: The dims that statistics have; others are 1.
        layout: The layout of all tensors.
        shared: The element type of parameters, `f32` or `as x`.
        parameters: The parameters: none, scale, scale_bias or running (scale, bias and running
            statistics).
        result: The element type of the result, or `as x`.
        beside: Other operations of the graph.
        groups: The groups of a group norm.
    """

    mode: str
    phase: str
    dtype: str
    dims: tuple[int, ...]
    kept: frozenset[int]
    saved: frozenset[int]
    layout: str
    shared: str = "f32"
    parameters: str = "scale_bias"
    result: str = "as x"
    beside: str = "nothing"
    groups: int = 0

    def _spanned(self, axes: frozenset[int]) -> tuple[int, ...]:
        dims = [size if i in axes else 1 for i, size in enumerate(self.dims)]
        if self.groups and axes is self.saved:
            dims[1] = self.groups
        return tuple(dims)

    def text(self, key: str) -> str:
        """Builds the graph.

        Args:
            key: Its symbol.

        Returns:
            Its text.
        """
        graph = GraphText(key, self.layout)
        results = self._backward(graph) if self.phase == "backward" else self._forward(graph)
        return graph.text(*results)

    def _kinds(self) -> tuple[str, str]:
        """Returns the types of parameters and of statistics."""
        dtype = self.dtype if self.shared == "as x" else self.shared
        return desc(self._spanned(self.kept), dtype, self.layout), desc(
            self._spanned(self.saved), "f32", self.layout
        )

    def _given(self, graph: GraphText, axes: frozenset[int], shared: str = "f32") -> Value:
        return graph.argument(self._spanned(axes), self.dtype if shared == "as x" else shared)

    def _forward(self, graph: GraphText) -> list[Value]:
        _, statistic = self._kinds()
        result = self.dtype if self.result == "as x" else self.result
        given: dict[str, Value | None] = {"x": graph.argument(self.dims, self.dtype)}
        types = {"y": desc(self.dims, result, self.layout)}
        batch, training = self.mode == "batch_norm", self.phase == "training"
        if batch and not training:
            given |= {name: self._given(graph, self.saved) for name in ("mean", "inv_variance")}
        given |= {name: self._given(graph, self.kept, self.shared) for name in self._names()}
        if training or not batch:
            given["epsilon"] = graph.scalar("1.0e-05", "f32", len(self.dims))
        if training:
            types |= {
                name: statistic
                for name in ("saved_mean", "saved_inv_variance")[self.mode == "rms_norm" :]
            }
        if self.parameters == "running":
            given["exp_avg_factor"] = graph.scalar("1.0e-01", "f32", len(self.dims))
            given |= {
                name: self._given(graph, self.kept)
                for name in ("input_running_mean", "input_running_var")
            }
            types |= {name: statistic for name in ("output_running_mean", "output_running_var")}
        y, *others = graph.named(f"norm_forward {self.mode} {self.phase}", given, types)
        if "add" in self.beside:
            y = graph.apply(
                "pointwise add",
                [y, graph.argument(self.dims, result)],
                "type = f32",
                self.dims,
                result,
            )
        for name in ("relu", "gelu"):
            if name in self.beside:
                y = graph.apply(f"pointwise {name}_fwd", [y], "type = f32", self.dims, result)
        return [y, *others]

    def _backward(self, graph: GraphText) -> list[Value]:
        parameter, _ = self._kinds()
        dy = graph.argument(self.dims, self.dtype)
        if self.beside == "after_mask":
            dy = graph.apply(
                "pointwise mul",
                [dy, graph.argument(self.dims, "i1")],
                "type = f32",
                self.dims,
                self.dtype,
            )
        if self.beside == "after_relu_bwd":
            dy = graph.apply(
                "pointwise relu_bwd",
                [dy, graph.argument(self.dims, self.dtype)],
                "type = f32",
                self.dims,
                self.dtype,
            )
        given: dict[str, Value | None] = {"dy": dy, "x": graph.argument(self.dims, self.dtype)}
        given |= {
            name: self._given(graph, self.saved)
            for name in ("mean", "inv_variance")[self.mode == "rms_norm" :]
        }
        given |= {name: self._given(graph, self.kept, self.shared) for name in self._names()[:1]}
        types = {"dx": desc(self.dims, self.dtype, self.layout)} | {
            f"d{name}": parameter for name in self._names()
        }
        return graph.named(f"norm_backward {self.mode}", given, types)

    def _names(self) -> tuple[str, ...]:
        return {"none": (), "scale": ("scale",)}.get(self.parameters, ("scale", "bias"))

    def case(self, axes: dict[str, str | int], *more: object) -> OperationCase:
        """Returns the case of this norm.

        Args:
            axes: Its values on axes other than mode, phase, dtype and `beside`.
            more: Further parts of the key, for properties that are not axes.

        Returns:
            The case.
        """
        backward = self.phase == "backward"
        phase: dict[str, str | int] = {} if backward else {"phases": self.phase}
        point = (
            {"modes": self.mode} | phase | {"dtypes": self.dtype} | axes | {"beside": self.beside}
        )
        operation = "norm_backward" if backward else "norm_forward"
        key = key_of(operation, *point.values(), "x".join(map(str, more)))
        return OperationCase(key, operation, point, self.text(key))


def _shared(dtype: str) -> tuple[str, ...]:
    return ("f32",) if dtype == "f32" else ("f32", "as x")


def _row_norm(
    mode: str, phase: str, dtype: str, shape: str = "rank3", columns: int = 1024
) -> _Norm:
    before, after = _SHAPES[shape]
    dims = (*before, *(columns if size == 1024 else size for size in after))
    trailing = frozenset(range(len(before), len(dims)))
    kept = trailing | {0} if mode == "ada_layer_norm" else trailing
    return _Norm(
        mode,
        phase,
        dtype,
        dims,
        kept,
        frozenset(range(len(before))),
        "channels_last" if shape == "columns" else "row_major",
    )


def _rows() -> Iterator[OperationCase]:
    """Norms of rows. Sizes and types of wide results are not axes, because cuDNN accepts all."""

    def case(norm: _Norm) -> OperationCase:
        wide = norm.result in ("as x", *_DTYPES)
        axes: dict[str, str | int] = {
            "parameters": norm.parameters,
            "parameter_dtypes": norm.shared,
        }
        if norm.phase != "backward":
            axes["results"] = "wide" if wide else norm.result
        return norm.case(axes, norm.result, *norm.dims)

    for mode, phase, dtype in product(_ROWS, _PHASES, _DTYPES):
        base = _row_norm(mode, phase, dtype)
        for shared, parameters in product(_shared(dtype), _PARAMETERS):
            yield case(replace(base, shared=shared, parameters=parameters))
        for columns in _COLUMNS:
            yield case(
                replace(_row_norm(mode, phase, dtype, columns=columns), parameters=_USUAL[mode])
            )
        for shape in _SHAPES:
            # An adaptive norm has a batch dim and rows.
            if mode != "ada_layer_norm" or shape in ("rank3", "rank4"):
                yield case(replace(_row_norm(mode, phase, dtype, shape), parameters=_USUAL[mode]))
        for shared, beside in product(_shared(dtype), _BESIDE[phase]):
            yield case(replace(base, shared=shared, beside=beside))
        for result in () if phase == "backward" else ("f16", "f32", "f8E4M3FN"):
            yield case(replace(base, result=result))


def _image_norm(
    mode: str,
    phase: str,
    dtype: str,
    layout: str,
    channels: int = 64,
    spatial: tuple[int, ...] = (16, 16),
) -> _Norm:
    saved = frozenset({1}) if mode == "batch_norm" else frozenset({0, 1})
    parameters = "running" if mode == "batch_norm" and phase == "training" else "scale_bias"
    groups = (
        next(number for number in (4, 2, 5) if channels % number == 0)
        if mode == "group_norm"
        else 0
    )
    return _Norm(
        mode,
        phase,
        dtype,
        (8, channels, *spatial),
        frozenset({1}),
        saved,
        layout,
        parameters=parameters,
        groups=groups,
    )


def _images() -> Iterator[OperationCase]:
    """Norms of images. The alignment of channels is an axis, the parameters are not."""

    def case(norm: _Norm) -> OperationCase:
        aligned = norm.dims[1] * BYTES[norm.dtype] % 16 == 0
        axes: dict[str, str | int] = {
            "parameter_dtypes": norm.shared,
            "layouts": norm.layout,
            "ranks": len(norm.dims),
        }
        axes["channel_bytes"] = 16 if aligned else 1
        return norm.case(axes, norm.parameters, *norm.dims)

    for mode, phase, dtype, layout in product(
        _IMAGES, _PHASES, _DTYPES, ("channels_last", "channels_first")
    ):
        base = _image_norm(mode, phase, dtype, layout)
        for shared, parameters in product(_shared(dtype), (*_PARAMETERS, base.parameters)):
            yield case(replace(base, shared=shared, parameters=parameters))
        for spatial in ((64,), (4, 8, 8), (1, 1), (112, 112)):
            yield case(_image_norm(mode, phase, dtype, layout, spatial=spatial))
        for channels in (65, 66, 68, 72, 2048):
            yield case(_image_norm(mode, phase, dtype, layout, channels))
        for beside, channels in product(_BESIDE[phase], (64, 66)):
            yield case(replace(_image_norm(mode, phase, dtype, layout, channels), beside=beside))


def norm_cases() -> list[OperationCase]:
    """Returns every norm of the matrix once."""
    return list({case.key: case for cases in (_rows(), _images()) for case in cases}.values())
