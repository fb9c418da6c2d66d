"""A random model as data: inputs, weights, and a list of steps, each an expression of earlier
values.

The same steps are rendered as the source of an `nn.Module`, which Convoy compiles, and evaluated
one by one (`Track`), which gives the reference, PyTorch's own result, and the growth of rounding
errors. The contents of a tensor depend only on the model's seed and the tensor's name, so that
removing a step does not change the data of the others.
"""

from __future__ import annotations

import json
import textwrap
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = [
    "EPS",
    "FLOATS",
    "Leaf",
    "Model",
    "Step",
    "Track",
    "build",
    "class_source",
    "fill",
    "leaf_data",
    "script",
    "short",
]

#: The text of a dtype in expressions: attributes of the module, which the reference sets to
#: float64.
_ATTRIBUTES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
FLOATS = frozenset(getattr(torch, name) for name in _ATTRIBUTES) | {torch.float64}
#: The distance from 1 to the next larger number.
EPS = {
    torch.float32: 2.0**-23,
    torch.float16: 2.0**-10,
    torch.bfloat16: 2.0**-7,
    torch.float64: 2.0**-52,
}


@dataclass(frozen=True)
class Leaf:
    """An input (`x0`), a parameter (`p0`) or a buffer (`b0`): shape and dtype, with torch's names.
    `positive` data is in 0.5 to 1.5."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    positive: bool = False


@dataclass(frozen=True)
class Step:
    """`name` = `expression`, where `{0}`, `{1}`, ... are the operands and `{m}` is a submodule: the
    one constructed by `module`, the text of a constructor call, or the one of the step `shares`."""

    name: str
    expression: str
    operands: tuple[str, ...]
    module: str = ""
    shares: str = ""


@dataclass(frozen=True)
class Model:
    """Inputs, weights and steps in order. `dtype` is that of submodules and of floating-point
    weights. `outputs` are names of inputs, weights and steps; `form` is how they are returned:
    "tensor", "tuple", "list" or "dict". `cpu_dtype` and `cuda_dtype` are the option `dtype` of the
    two compilations."""

    seed: int
    dtype: str
    inputs: tuple[Leaf, ...]
    weights: tuple[Leaf, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    form: str = "tuple"
    cpu_dtype: str | None = None
    cuda_dtype: str | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Model:
        tree = json.loads(text)
        for key, kind in (("inputs", Leaf), ("weights", Leaf), ("steps", Step)):
            tree[key] = tuple(
                kind(
                    **{
                        name: tuple(value) if isinstance(value, list) else value
                        for name, value in item.items()
                    }
                )
                for item in tree[key]
            )
        return Model(**{**tree, "outputs": tuple(tree["outputs"])})


def short(dtype: str) -> str:
    """The text of a dtype in expressions: `self.F16`, `torch.int64`."""
    return f"self.{_ATTRIBUTES[dtype]}" if dtype in _ATTRIBUTES else f"torch.{dtype}"


# Data. The printed script contains these functions, so they are text, which is executed here as
# well.

DATA_SOURCE = '''\
def leaf_data(seed, name, shape, dtype, positive=False):
    """Numbers that follow from `seed` and `name`."""
    g = torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))
    if dtype == torch.bool:
        return torch.rand(shape, generator=g) > 0.5
    if not dtype.is_floating_point:
        return torch.randint(1 if positive else -4, 6, shape, generator=g).to(dtype)
    if positive:
        return (torch.rand(shape, generator=g) + 0.5).to(dtype)
    return torch.randn(shape, generator=g).to(dtype)


def fill(module, seed):
    """Gives every parameter and buffer of a submodule its data: variances and scales are in 0.5 to 1.5, what has two dims or more is
    divided by the square root of what a sum runs over."""
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if name.startswith(("p", "b")) or not tensor.is_floating_point():
            continue
        norm = name.endswith("var") or (tensor.dim() == 1 and name.endswith("weight"))
        data = leaf_data(seed, name, tuple(tensor.shape), torch.float32, norm)
        if tensor.dim() > 1:
            data /= max(1, tensor.numel() // tensor.shape[0]) ** 0.5
        tensor.detach().copy_(data)
'''

_namespace: dict[str, Any] = {"torch": torch, "zlib": zlib}
exec(DATA_SOURCE, _namespace)
leaf_data: Callable[..., Tensor] = _namespace["leaf_data"]
fill: Callable[[nn.Module, int], None] = _namespace["fill"]


def class_source(model: Model) -> str:
    """The module as Python source: class M."""
    lines = [
        "class M(nn.Module):",
        "    F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16",
        "",
    ]
    lines += ["    def __init__(self):", "        super().__init__()"]
    for leaf in model.weights:
        data = (
            f"leaf_data({model.seed}, {leaf.name!r}, {leaf.shape}, "
            f"torch.{leaf.dtype}{', True' if leaf.positive else ''})"
        )
        kind = (
            f"self.{leaf.name} = nn.Parameter({data})"
            if leaf.name.startswith("p")
            else f"self.register_buffer({leaf.name!r}, {data})"
        )
        lines.append(f"        {kind}")
    lines += [
        f"        self.{_module(step)} = {step.module}" for step in model.steps if step.module
    ]
    if any(step.module for step in model.steps):
        lines.append(f"        fill(self, {model.seed})")
    arguments = "".join(f", {leaf.name}" for leaf in model.inputs)
    lines += ["", f"    def forward(self{arguments}):"]
    lines += [f"        {step.name} = {expression(step)}" for step in model.steps]
    names = [_reference(name) for name in model.outputs]
    returned = {
        "tensor": names[0],
        "tuple": f"({', '.join(names)},)",
        "list": f"[{', '.join(names)}]",
        "dict": "{" + ", ".join(f"'out{index}': {name}" for index, name in enumerate(names)) + "}",
    }
    return "\n".join([*lines, f"        return {returned[model.form]}", ""])


def expression(step: Step) -> str:
    """The step's expression with names inserted."""
    return step.expression.format(*map(_reference, step.operands), m=f"self.{_module(step)}")


def _module(step: Step) -> str:
    return f"m{step.shares or step.name}"


def _reference(name: str) -> str:
    return f"self.{name}" if name[0] in "pb" else name


def build(model: Model, dtype: torch.dtype, path: str = "model.py") -> nn.Module:
    """The module of `class_source` in evaluation mode, with floating-point weights in `dtype`. With
    float64 it is the reference: it has the same numbers and computes in float64, whatever dtypes
    the steps specify."""
    namespace: dict[str, Any] = {
        "torch": torch,
        "nn": nn,
        "F": F,
        "leaf_data": leaf_data,
        "fill": fill,
    }
    exec(compile(class_source(model), path, "exec"), namespace)
    made: nn.Module = namespace["M"]()
    made = made.to(getattr(torch, model.dtype)).to(dtype).eval().requires_grad_(False)
    if dtype == torch.float64:
        made.F32 = made.F16 = made.BF16 = torch.float64  # type: ignore[assignment]
    return made


class Track:
    """The values of a model's leaves and steps, evaluated one by one with the submodules and dtypes
    of `module`."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.values: dict[str, Tensor] = {}
        self._globals = {"torch": torch, "F": F, "nn": nn, "self": module}

    def run(self, step: Step) -> Tensor:
        """Evaluates a step; `values` must have its operands, and the result is not added to it."""
        places = [f"_{index}" for index in range(len(step.operands))]
        text = step.expression.format(*places, m=f"self.{_module(step)}")
        values = {
            place: self.values[name] for place, name in zip(places, step.operands, strict=True)
        }
        result = eval(text, self._globals, values)
        if not isinstance(result, Tensor):
            msg = f"expected a tensor, got {type(result).__name__}"
            raise TypeError(msg)
        return result


def script(model: Model, what: str, limits: Sequence[float | None]) -> str:
    """A complete script: the model, its inputs, both compilations, and the comparison of each
    output with a limit."""
    inputs = [
        (
            f"leaf_data({model.seed}, {leaf.name!r}, {leaf.shape}, "
            f"torch.{leaf.dtype}{', True' if leaf.positive else ''})"
        )
        for leaf in model.inputs
    ]
    return "\n".join(
        [
            f'"""{what}"""',
            "",
            "import zlib",
            "",
            "import torch",
            "import torch.nn.functional as F",
            "from torch import nn",
            "from torch.utils._pytree import tree_leaves",
            "",
            "import convoy",
            "",
            "",
            DATA_SOURCE,
            "",
            class_source(model),
            "",
            "class Wide(M):",
            "    F32 = F16 = BF16 = torch.float64",
            "",
            "",
            f"model = M().to(torch.{model.dtype}).eval()",
            f"wide = Wide().to(torch.{model.dtype}).double().eval()",
            "inputs = (",
            *(f"    {each}," for each in inputs),
            ")",
            "with torch.no_grad():",
            (
                "    expected = tree_leaves(wide(*[x.double() if x.is_floating_point() else "
                "x for x in inputs]))"
            ),
            f'convoy.compile(model, inputs, target="cuda", dtype={model.cuda_dtype!r})',
            (
                'got = convoy.compile(model, inputs, target="cpu", '
                f"dtype={model.cpu_dtype!r}).load(poison=True)(*inputs)"
            ),
            "got = tree_leaves(got)",
            f"limits = {list(limits)}",
            textwrap.dedent(
                """\
                for index, (mine, theirs, limit) in enumerate(zip(got, expected, limits, strict=True)):
                    error = float((mine.double() - theirs.double()).abs().max())
                    assert mine.shape == theirs.shape, f"output {index}: {tuple(mine.shape)}, expected {tuple(theirs.shape)}"
                    assert limit is None or error <= limit, f"output {index}: differs by {error}, limit {limit}\\n{mine}\\n{theirs}"
                """
            ),
        ]
    )
