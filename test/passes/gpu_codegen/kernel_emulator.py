# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs generated kernels without a GPU: the text of phase `host`, each op for all threads of a
launch at once. So barriers have no effect. Programs with graphs of cuDNN are refused."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tools.convoy_opt import convoy_opt

__all__ = ["lower_to_host", "run_main"]

_DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "i1": torch.bool,
    "index": torch.int64,
}  # fmt: skip
_WARP = 32


@dataclass
class _Op:
    name: str
    results: list[str]
    operands: list[str]
    text: str
    arguments: list[str] = field(default_factory=list)  # of the first region
    header: str = ""  # their types
    regions: list[list[_Op]] = field(default_factory=list)


def _parse(lines: Iterator[str]) -> list[_Op]:
    """The ops up to the end of a region."""
    ops: list[_Op] = []
    arguments: list[str] = []
    header = ""
    for line in lines:
        line = line.strip()
        if line.startswith("^bb"):
            header, arguments = line, re.findall(r"(%[\w#]+):", line)
        elif line.startswith("})"):
            break
        elif line == "}, {":
            ops.append(_Op("next_region", [], [], line))
        elif found := re.match(r'(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\((.*?)\)(.*)', line):
            name, count, op, operands, text = found.groups()
            results = [] if name is None else [name]
            if count is not None:
                results = [f"{name}#{i}" for i in range(int(count))]
            made = _Op(op, results, re.findall(r"%[\w#]+", operands), text)
            ops.append(made)
            if text.endswith("({"):
                inner = _parse(lines)
                made.arguments, made.header, parts = inner[0].results, inner[0].text, [[]]
                for each in inner[1:]:
                    parts.append([]) if each.name == "next_region" else parts[-1].append(each)
                made.regions = parts
    return [_Op("arguments", arguments, [], header), *ops]


def _walk(ops: Sequence[_Op]) -> Iterator[_Op]:
    for op in ops:
        yield op
        for region in op.regions:
            yield from _walk(region)


_SIMPLE: dict[str, Callable[..., Tensor]] = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul,
    "divui": lambda a, b: torch.div(a, b, rounding_mode="floor"), "remui": torch.remainder,
    "minui": torch.minimum, "maxsi": torch.maximum, "minsi": torch.minimum,
    "andi": torch.bitwise_and, "ori": torch.bitwise_or, "select": torch.where,
    "shli": torch.bitwise_left_shift, "shrsi": torch.bitwise_right_shift,
    "addf": operator.add, "subf": operator.sub, "mulf": operator.mul, "divf": operator.truediv,
    "maximumf": torch.maximum, "minimumf": torch.minimum, "negf": operator.neg,
    "exp2": torch.exp2, "exp": torch.exp, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "absf": torch.abs, "copysign": torch.copysign, "floor": torch.floor, "roundeven": torch.round,
    # The product of two f32 numbers is exact in f64.
    "fma": lambda a, b, c: (a.double() * b.double() + c.double()).to(a.dtype),
}  # fmt: skip
#: Predicates of arith.cmpi, by number; from 6 on of unsigned numbers.
_COMPARE: Sequence[Callable[..., Tensor]] = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip


#: Those of arith.cmpf, for ordered numbers first; the unordered ones are as many numbers later.
_COMPARE_FLOATS: Sequence[Callable[..., Tensor]] = (
    operator.eq, operator.gt, operator.ge, operator.lt, operator.le, operator.ne,
)  # fmt: skip


class _Launch:
    """The threads of one launch, which all take each step together."""

    def __init__(self, op: _Op, blocks: int, threads: int, values: Sequence[Tensor]) -> None:
        number = torch.arange(blocks * threads)
        self.block, self.thread = number // threads, number % threads
        self.values = dict(zip(op.arguments, values, strict=False))
        #: The sizes of the shared memory of a block. That of all blocks is one tensor.
        self.shared: dict[str, list[int]] = {}
        for name, sizes, dtype in re.findall(
            r"(%\w+): memref<([\dx]+)x(\w+), #gpu.address_space<workgroup>>", op.header
        ):
            self.shared[name] = [int(each) for each in sizes.split("x")]
            size = blocks * functools.reduce(operator.mul, self.shared[name])
            self.values[name] = torch.full((size,), 127, dtype=_DTYPES[dtype])
        assert len(self.values) == len(op.arguments), op

    def run(self, ops: Sequence[_Op], active: Tensor) -> list[Tensor]:
        """Runs `ops` for the active threads. Returns what the last one yields."""
        for op in ops:
            arguments = [self.values[each] for each in op.operands]
            kind = op.name.split(".")[1]
            if kind in ("yield", "return"):
                return arguments
            for name, value in zip(op.results, self.step(op, kind, arguments, active), strict=True):
                self.values[name] = value
        return []

    def step(self, op: _Op, kind: str, arguments: list[Tensor], active: Tensor) -> Sequence[Tensor]:
        if kind in _SIMPLE:
            return [_SIMPLE[kind](*arguments)]
        special = getattr(self, f"_{kind}", None)
        assert special is not None, f"no {op.name}"
        result: Sequence[Tensor] = special(op, arguments, active)
        return result

    def _all(self, value: float, dtype: torch.dtype) -> Tensor:
        return torch.full(self.thread.shape, value, dtype=dtype)

    def _constant(self, op: _Op, _: list[Tensor], __: Tensor) -> list[Tensor]:
        value, dtype = re.search(r"value = (\S+?)(?: : (\w+))?}", op.text).groups()  # type: ignore[union-attr]
        if value in ("true", "false"):
            return [self._all(value == "true", torch.bool)]
        if value.startswith("0x"):
            bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[_DTYPES[dtype].itemsize]
            number = int(value, 16)
            number -= (number >> (8 * bits.itemsize - 1)) << 8 * bits.itemsize
            return [self._all(number, bits).view(_DTYPES[dtype])]
        number_of = float if _DTYPES[dtype].is_floating_point else int
        return [self._all(number_of(value), _DTYPES[dtype])]

    def _block_id(self, *_: object) -> list[Tensor]:
        return [self.block]

    def _thread_id(self, *_: object) -> list[Tensor]:
        return [self.thread]

    def _extf(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        return [arguments[0].to(_DTYPES[op.text.rsplit("-> ")[-1]])]

    _truncf = _trunci = _index_cast = _sitofp = _fptosi = _extf

    def _extui(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        bits = 8 * arguments[0].itemsize
        wide = arguments[0].to(_DTYPES[op.text.rsplit("-> ")[-1]])
        return [wide & ((1 << bits) - 1)]

    def _shrui(self, _: _Op, arguments: list[Tensor], __: Tensor) -> list[Tensor]:
        value, places = arguments
        assert bool((places > 0).all())
        return [(value >> places) & ((1 << (8 * value.itemsize - places)) - 1)]

    def _bitcast(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        element = re.search(r"-> (?:vector<\d+x)?(\w+)>?$", op.text).group(1)  # type: ignore[union-attr]
        return [arguments[0].view(_DTYPES[element])]

    def _inline_asm(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        assert '"mov.b32 $0, $1;"' in op.text
        return arguments

    def _cmpi(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        predicate = int(re.search(r"predicate = (\d+)", op.text).group(1))  # type: ignore[union-attr]
        if predicate >= 6:
            # Unsigned numbers are in the order of signed ones whose first bit is the opposite.
            first = torch.iinfo(arguments[0].dtype).min
            arguments = [each ^ first for each in arguments]
        return [_COMPARE[predicate](*arguments)]

    def _cmpf(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        predicate = int(re.search(r"predicate = (\d+)", op.text).group(1))  # type: ignore[union-attr]
        a, b = arguments
        unordered = a.isnan() | b.isnan()
        if predicate in (7, 14):
            return [unordered if predicate == 14 else ~unordered]
        found = _COMPARE_FLOATS[(predicate - 1) % 7](a, b)
        return [found | unordered if predicate > 7 else found & ~unordered]

    def _shuffle(self, op: _Op, arguments: list[Tensor], active: Tensor) -> list[Tensor]:
        assert bool(active.all())
        value, offset, width = arguments
        assert int(width[0]) == _WARP
        own, offset = torch.arange(len(value)), offset.long()
        if "xor" in op.text:
            other = own ^ offset
        else:
            assert "idx" in op.text
            assert bool(((offset >= 0) & (offset < _WARP)).all())
            other = own - own % _WARP + offset
        return [value[other], torch.ones_like(active)]

    def _where(self, memory: str, indices: list[Tensor]) -> Tensor:
        """Addresses in elements."""
        if memory not in self.shared:
            return indices[0]
        where = self.block
        for size, index in zip(self.shared[memory], indices, strict=True):
            assert bool(((index >= 0) & (index < size)).all())
            where = where * size + index
        return where

    def _barrier(self, _: _Op, __: list[Tensor], active: Tensor) -> list[Tensor]:
        assert bool(active.all())
        return []

    def _checked(
        self, op: _Op, memory: Tensor, where: Tensor, active: Tensor, width: int
    ) -> Tensor:
        """The addresses of the active threads, which are inside and aligned."""
        inside = where[active]
        assert bool(((inside >= 0) & (inside + width <= memory.numel())).all()), op
        if found := re.search(r"alignment = (\d+)", op.text):
            assert not bool((inside * memory.element_size() % int(found.group(1))).any()), op
        return torch.where(active, where, 0)

    def _load(self, op: _Op, arguments: list[Tensor], active: Tensor) -> list[Tensor]:
        memory, where = arguments[0], self._where(op.operands[0], arguments[1:])
        found = re.search(r"-> vector<(\d+)x", op.text)
        width = int(found.group(1)) if found else 1
        where = self._checked(op, memory, where, active, width)
        if not found:
            return [memory[where]]
        return [memory[where[:, None] + torch.arange(width)]]

    def _store(self, op: _Op, arguments: list[Tensor], active: Tensor) -> list[Tensor]:
        value, memory, where = *arguments[:2], self._where(op.operands[1], arguments[2:])
        vector = value if value.dim() == 2 else value[:, None]
        self._checked(op, memory, where, active, vector.shape[1])
        places = where[active][:, None] + torch.arange(vector.shape[1])
        assert places.unique().numel() == places.numel(), f"two threads write an element: {op}"
        memory[places] = vector[active]
        return []

    def _extract(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        position = re.search(r"static_position = array<i64: (\d+)>", op.text)
        assert position is not None
        return [arguments[0][:, int(position.group(1))]]

    def _from_elements(self, _: _Op, arguments: list[Tensor], __: Tensor) -> list[Tensor]:
        return [torch.stack(arguments, 1)]

    def _broadcast(self, op: _Op, arguments: list[Tensor], _: Tensor) -> list[Tensor]:
        width = int(re.search(r"-> vector<(\d+)x", op.text).group(1))  # type: ignore[union-attr]
        return [arguments[0][:, None].expand(-1, width)]

    def _if(self, op: _Op, arguments: list[Tensor], active: Tensor) -> list[Tensor]:
        then, *other = (
            self.run(region, active & condition)
            for region, condition in zip(op.regions, (arguments[0], ~arguments[0]), strict=False)
        )
        if not then:
            return []
        return [torch.where(arguments[0], a, b) for a, b in zip(then, *other, strict=True)]

    def _for(self, op: _Op, arguments: list[Tensor], active: Tensor) -> list[Tensor]:
        first, end, step, *carried = arguments
        index = first
        while bool((running := active & (index < end)).any()):
            self.values.update(zip(op.arguments, [index, *carried], strict=True))
            next_ = self.run(op.regions[0], running)
            carried = [torch.where(running, a, b) for a, b in zip(next_, carried, strict=True)]
            index = index + step
        return carried


def lower_to_host(text: str) -> str:
    """A module of phase `tcp` at the end of phase `host`, as `run_main` takes it."""
    return convoy_opt(
        text, "--convoy-pipeline=to=host target=cuda", "--mlir-print-op-generic"
    ).stdout


def run_main(text: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> int:
    """Runs @main of a module at the end of phase `host`, printed in generic form.

    Args:
        text: The module.
        inputs: The inputs, then the prepared weights.
        outputs: The outputs, which are written.

    Returns:
        The number of launches.
    """
    ops = _parse(iter(text.splitlines()))
    main = next(op for op in _walk(ops) if op.name == "func.func" and '"main"' in op.text)
    kernels = [op for op in _walk(ops) if op.name == "gpu.func"]
    found = re.search(r"memref<(\d+)xi8>\) -> i32", main.text)
    assert found is not None
    arena = torch.full((int(found.group(1)),), 0x7F, dtype=torch.int8)
    # Dense tensors, in the order in which they are in memory.
    flat = [torch.as_strided(each, (each.numel(),), (1,)) for each in (*inputs, *outputs)]
    memory = dict(zip(main.arguments[1:], [*flat, arena], strict=True))
    constants: dict[str, int] = {}
    launches = 0
    for op in main.regions[0]:
        if op.name == "arith.constant":
            constants[op.results[0]] = int(re.search(r"value = (\d+)", op.text).group(1))  # type: ignore[union-attr]
        elif op.name == "memref.view":
            sizes = re.search(r"-> memref<([\dx]+)x(\w+)>", op.text)
            assert sizes is not None
            dtype = _DTYPES[sizes.group(2)]
            count = functools.reduce(operator.mul, map(int, sizes.group(1).split("x")))
            start = constants[op.operands[1]]
            part = memory[op.operands[0]][start : start + count * dtype.itemsize]
            memory[op.results[0]] = part.view(dtype)
        elif op.name == "cudnn_backend.launch_kernel":
            block, grid, kernel = (
                int(re.search(rf"{key} = (?:array<i32: )?(\d+)", op.text).group(1))  # type: ignore[union-attr]
                for key in ("block", "grid", "kernel")
            )
            values = [memory[each] for each in op.operands[1:]]
            launch = _Launch(kernels[kernel], grid, block, values)
            launch.run(kernels[kernel].regions[0], torch.ones(grid * block, dtype=torch.bool))
            launches += 1
        else:
            assert op.name in ("func.return", "memref.reinterpret_cast"), f"no {op.name}"
            if op.results:
                memory[op.results[0]] = memory[op.operands[0]]
    return launches
