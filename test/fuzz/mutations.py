"""Changes to the text of MLIR modules.

A mutation is a function of a random generator, a text and a `Pool` of parts of other modules. It
returns the changed text, or the text itself if it finds nothing to change. Many mutations change
every occurrence of the same number, type or name at once: a dim that changes in all types still
verifies, and reaches the passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

__all__ = ["Pool", "mutate"]

_DIMS = (
    "0",
    "1",
    "?",
    "2",
    "3",
    "7",
    "13",
    "17",
    "64",
    "127",
    "1024",
    "2147483648",
    "9223372036854775807",
    "-1",
)
_INTEGERS = (
    "0", "-1", "1", "2", "3", "4", "5", "7", "8", "16", "255", "1000000007", "2147483647",
    "2147483648", "-2147483648", "4294967296",
    "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.0", "true",
)  # fmt: skip
_FLOATS = (
    "0.0",
    "-0.0",
    "1.0",
    "1.0e+38",
    "1.0e-320",
    "1.0e+400",
    "0x7FF0000000000000",
    "0x7FF8000000000000",
    "-1.0",
    "0x7F800000",
    "5",
)
_ELEMENTS = (
    "f16", "bf16", "f32", "f64", "f128", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "tf32",
    "i1", "i4", "i8", "ui8", "si32", "i16",
    "i32", "i64", "i128", "index", "complex<f32>", "vector<4xf32>", "none", "tensor<2xf32>",
    "!llvm.ptr", "!tcp.nothing", "i0",
    "i16777216",
)  # fmt: skip
_ELEMENT = re.compile(
    r"(?<![\w.])(?:\d+x|\?x)*((?:bf16|f16|f32|f64|f8E4M3FN|f8E5M2|i1|i8|i16|i32|i64|index))(?![\w.])"
)
_STRINGS = (
    '""',
    '"x"',
    '"main"',
    '"cpu"',
    '"cuda"',
    '"a/b\\00c"',
    '"' + "n" * 300 + '"',
    "1",
    "unit",
    "[]",
    "{}",
    "@main",
    "1.5",
    "f32",
)
_VALUES = (
    "0 : i64", "-1 : i64", "1 : i32", "true", "1.0 : f64", "0x7FF8000000000000 : f64", '"text"',
    "unit", "[]", "{}", "@main", "f32",
    "array<i64>", "array<i64: 0>", "array<i64: 1, 1>", "array<i64: -1, 2, 3, 4>", "array<i32: 1>",
    "[0, 1]", '["a"]',
    "affine_map<(d0) -> (d0)>", "dense<1.0> : tensor<2xf32>",
    "array<i64: 9223372036854775807, 9223372036854775807>",
    "#gpu.address_space<workgroup>",
)  # fmt: skip
_SHAPED = re.compile(
    r"\b(?:tensor|memref|vector)<(?:[^<>]|<[^<>]*>)*>|!cudnn\.\w+<(?:[^<>]|<[^<>]*>)*>"
)
_DIM = re.compile(r"(?<![\w.])(\d+|\?)(?=x[\d?a-z!])|(?<=\dx)(\d+|\?)(?=x[\d?a-z!])")
_INTEGER = re.compile(r"(?<![\w.%#^@$-])-?\d+(?![\w.x]|x\w)")
_FLOAT = re.compile(r"(?<![\w.%#^@$-])-?\d+\.\d*(?:[eE][-+]?\d+)?")
_DIALECTS = "tcp|cudnn_backend|cudnn|linalg|arith|math|memref|scf|func|gpu|llvm|tensor|vector|affine|nvvm|cf"
_OP = re.compile(rf"(?<![\w.!#@%])(?:{_DIALECTS})\.[a-z][\w.]*")
_ATTRIBUTE = re.compile(
    r"(?<![\w.%])([\w.]+) ?= ?"
    r"((?:[^,{}\[\]<>()\"=\n]++|\"[^\"\n]*\"|\[[^\[\]\n]*\]|<[^<>\n]*>|\([^()\n]*\))++)(?=[,}>])"
)
_FUNCTION = re.compile(
    r"func\.func (?:private )?(@[^\n]*?) (?:attributes [^\n]*)?\{\n"
    r"(?:(?![ \t]*return).*\n)*+[ \t]*return[^\n]*\n[ \t]*\}"
)
_VALUE = re.compile(r"%[\w$.-]+")
_SYMBOL = re.compile(r"@[\w$.-]+")
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|[%@^!#]?[\w$.]+|->|[^\s\w]")


@dataclass
class Pool:
    """Parts of modules that mutations insert into others.

    Attributes:
        ops: Op names by dialect and number of `%` names on their line.
        attributes: Texts of the form `name = value`.
        types: Texts of shaped types.
        texts: Whole modules, whose lines are spliced into others.
    """

    ops: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @staticmethod
    def of(texts: Iterable[str]) -> Pool:
        """The distinct parts of these modules, in the order of their first occurrence."""
        ops: dict[tuple[str, int], dict[str, None]] = {}
        attributes: dict[str, None] = {}
        types: dict[str, None] = {}
        kept = list(texts)
        for text in kept:
            for line in text.splitlines():
                for name in _OP.findall(line):
                    ops.setdefault(_family(name, line), {})[name] = None
            attributes.update(dict.fromkeys(found.group() for found in _ATTRIBUTE.finditer(text)))
            types.update(dict.fromkeys(_SHAPED.findall(text)))
        return Pool(
            {key: list(names) for key, names in ops.items()}, list(attributes), list(types), kept
        )


def mutate(rng: Random, text: str, pool: Pool) -> str:
    """One to three mutations of `text`, usually one."""
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3))):
        # If a mutation finds nothing to change, another one is drawn.
        for _ in range(4):
            changed = rng.choices(_MUTATIONS, _WEIGHTS)[0](rng, text, pool)
            if changed != text:
                text = changed
                break
    return text


def _family(name: str, line: str) -> tuple[str, int]:
    return name.partition(".")[0], line.count("%")


def _replace(text: str, found: re.Match[str], by: str, group: int = 0) -> str:
    return text[: found.start(group)] + by + text[found.end(group) :]


def _any(rng: Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def _integer(rng: Random, text: str, _: Pool) -> str:
    found = _any(rng, _INTEGER, text)
    return text if found is None else _replace(text, found, rng.choice(_INTEGERS))


def _float(rng: Random, text: str, _: Pool) -> str:
    found = _any(rng, _FLOAT, text)
    return text if found is None else _replace(text, found, rng.choice(_FLOATS))


def _dim(rng: Random, text: str, _: Pool) -> str:
    found = _any(rng, _DIM, text)
    return text if found is None else _replace(text, found, rng.choice(_DIMS))


def _dim_everywhere(rng: Random, text: str, _: Pool) -> str:
    """Changes a dim in all types, and the same number in attributes."""
    found = _any(rng, _DIM, text)
    if found is None or found.group() == "?":
        return text
    old, new = found.group(), rng.choice(_DIMS)
    text = re.sub(rf"(?<![\w.]){old}(?=x[\d?a-z!])|(?<=[\d?]x){old}(?=x[\d?a-z!])", new, text)
    return text if new == "?" else re.sub(rf"(?<![\w.%#^@$-]){old}(?![\w.])", new, text)


def _dims_of_one_type(rng: Random, text: str, _: Pool) -> str:
    """Changes the rank or dims of a type, at one place or everywhere."""
    found = _any(rng, _SHAPED, text)
    if found is None:
        return text
    old = found.group()
    dims = re.match(r"([^<]*<)((?:(?:\d+|\?)x)*)", old)
    if dims is None:
        return text
    sizes = dims.group(2).split("x")[:-1]
    match rng.randrange(5):
        case 0 if sizes:
            sizes.pop(rng.randrange(len(sizes)))
        case 1:
            sizes.insert(rng.randrange(len(sizes) + 1), rng.choice(_DIMS))
        case 2:
            sizes = []
        case 3:
            rng.shuffle(sizes)
        case _:
            sizes = [rng.choice(("0", "1", "?")) for _ in sizes]
    new = dims.group(1) + "".join(size + "x" for size in sizes) + old[dims.end() :]
    return text.replace(old, new) if rng.random() < 0.6 else _replace(text, found, new)


def _element(rng: Random, text: str, _: Pool) -> str:
    """Changes an element type, at one place, in all equal types, or in the whole module."""
    found = _any(rng, _ELEMENT, text)
    if found is None:
        return text
    new = rng.choice(_ELEMENTS[:16]) if rng.random() < 0.7 else rng.choice(_ELEMENTS)
    match rng.randrange(3):
        case 0:
            return _replace(text, found, new, 1)
        case 1:
            whole = found.group()
            return text.replace(whole, whole[: found.start(1) - found.start()] + new)
        case _:
            return re.sub(rf"(?<![a-zA-Z_.]){found.group(1)}(?![\w.])", new, text)


def _container(rng: Random, text: str, pool: Pool) -> str:
    """Changes a tensor to a memref, a vector, an unranked or another type; at one place or
    everywhere."""
    found = _any(rng, _SHAPED, text)
    if found is None:
        return text
    old = found.group()
    kind, _, rest = old.partition("<")
    choices = [
        f"{other}<{rest}"
        for other in ("tensor", "memref", "vector", "!cudnn.tensor_desc")
        if other != kind
    ]
    element = re.search(r"([a-z]\w*)(?:[,>])", rest)
    last = element.group(1) if element else "f32"
    choices += [
        f"tensor<*x{last}>",
        f"memref<*x{last}>",
        last,
        "index",
        "!llvm.ptr",
        rng.choice(pool.types) if pool.types else "f32",
    ]
    choices += [
        f"memref<{rest[:-1]}, strided<[1], offset: ?>>",
        f"memref<{rest[:-1]}, 3>",
        f"tuple<{old}>",
    ]
    new = rng.choice(choices)
    return text.replace(old, new) if rng.random() < 0.6 else _replace(text, found, new)


def _attribute(rng: Random, text: str, pool: Pool) -> str:
    """Drops, duplicates, renames, retypes or adds an attribute."""
    found = _any(rng, _ATTRIBUTE, text)
    if found is None:
        return text
    name, value = found.group(1), found.group(2)
    match rng.randrange(8):
        case 0:
            end = found.end() + (1 if text[found.end() : found.end() + 1] == "," else 0)
            return text[: found.start()] + text[end:]
        case 1:
            return _replace(text, found, f"{found.group()}, {found.group()}")
        case 2:
            return _replace(text, found, name + "x", 1)
        case 3:
            return _replace(
                text, found, found.group() + ", " + rng.choice(pool.attributes or [found.group()])
            )
        case 4:
            other = rng.choice(pool.attributes or [found.group()]).partition("=")[2].strip()
            return _replace(text, found, other or value, 2)
        case 5:
            return _replace(text, found, name + "", 0)
        case 6:
            return re.sub(
                rf"(?<![\w.]){re.escape(name)}\s*=\s*{re.escape(value)}",
                f"{name} = {rng.choice(_VALUES)}",
                text,
            )
        case _:
            return _replace(text, found, rng.choice(_VALUES), 2)


def _length_of_list(rng: Random, text: str, _: Pool) -> str:
    """Adds, drops or reorders elements in a list of numbers."""
    found = _any(rng, re.compile(r"(?:array<i\d+: |\[)((?:-?\d+, )*-?\d+)[>\]]"), text)
    if found is None:
        return text
    items = found.group(1).split(", ")
    match rng.randrange(4):
        case 0:
            items.append(rng.choice(_INTEGERS[:8]))
        case 1:
            items.pop()
        case 2:
            rng.shuffle(items)
        case _:
            items = [rng.choice(_INTEGERS[:17]) for _ in items]
    return _replace(text, found, ", ".join(items), 1)


def _op_name(rng: Random, text: str, pool: Pool) -> str:
    """Changes an op name, usually to one of the same dialect with as many operands, at one place or
    everywhere."""
    found = _any(rng, _OP, text)
    if found is None:
        return text
    old = found.group()
    line = text[
        text.rfind("\n", 0, found.start()) + 1 : (text.find("\n", found.end()) + 1 or len(text) + 1)
        - 1
    ]
    alike = pool.ops.get(_family(old, line), [])
    if rng.random() < 0.25 or len(alike) < 2:
        alike = [name for names in pool.ops.values() for name in names] or [old]
    new = rng.choice(alike)
    return (
        re.sub(rf"(?<![\w.!#@%]){re.escape(old)}(?![\w.])", new, text)
        if rng.random() < 0.3
        else _replace(text, found, new)
    )


def _operand(rng: Random, text: str, _: Pool) -> str:
    """Changes a value at one place, or exchanges two values."""
    found, other = _any(rng, _VALUE, text), _any(rng, _VALUE, text)
    if found is None or other is None or found.group() == other.group():
        return text
    if rng.random() < 0.6:
        return _replace(text, found, other.group())
    first, second = sorted((found, other), key=lambda each: each.start())
    return (
        text[: first.start()]
        + second.group()
        + text[first.end() : second.start()]
        + first.group()
        + text[second.end() :]
    )


def _operand_list(rng: Random, text: str, _: Pool) -> str:
    """Adds or drops an operand."""
    found = _any(rng, re.compile(r"%[\w$.-]+, "), text)
    if found is None:
        return text
    return _replace(text, found, "" if rng.random() < 0.5 else found.group() * 2)


def _lines(rng: Random, text: str, pool: Pool) -> str:
    """Deletes, duplicates, moves or inserts lines."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    count = rng.choice((1, 1, 1, 2, 3))
    part = lines[at : at + count]
    match rng.randrange(4):
        case 0:
            del lines[at : at + count]
        case 1:
            lines[at:at] = part
        case 2:
            del lines[at : at + count]
            to = rng.randrange(len(lines) + 1)
            lines[to:to] = part
        case _:
            other = rng.choice(pool.texts or [text]).split("\n")
            begin = rng.randrange(len(other))
            lines[at:at] = other[begin : begin + rng.choice((1, 1, 2, 4, 8))]
    return "\n".join(lines)


def _splice(rng: Random, text: str, pool: Pool) -> str:
    """Appends another module's ops, so that symbols collide."""
    other = rng.choice(pool.texts or [text])
    return f"{text}\n{other}" if rng.random() < 0.5 else f"{other}\n{text}"


def _results(rng: Random, text: str, _: Pool) -> str:
    """Drops or duplicates results, or drops types of results."""
    pattern = rng.choice(
        (
            r"%[\w$.]+(?::\d+)? = ",
            r" -> \([^()]*\)",
            r" -> (?:tensor|memref)<[^<>]*>",
            r"(?<=return) %[^\n]*",
            r"\) \{\n",
        )
    )
    found = _any(rng, re.compile(pattern), text)
    return (
        text
        if found is None
        else _replace(text, found, "" if "{" not in pattern else ") -> f32 {\n")
    )


def _tokens(rng: Random, text: str, _: Pool) -> str:
    """Exchanges two tokens, or drops or duplicates one."""
    found = list(_TOKEN.finditer(text))
    if len(found) < 2:
        return text
    first, second = sorted(rng.sample(found, 2), key=lambda each: each.start())
    match rng.randrange(3):
        case 0:
            return (
                text[: first.start()]
                + second.group()
                + text[first.end() : second.start()]
                + first.group()
                + text[second.end() :]
            )
        case 1:
            return _replace(text, first, "")
        case _:
            return _replace(text, first, f"{first.group()} {first.group()}")


def _string(rng: Random, text: str, _: Pool) -> str:
    found = _any(rng, _STRING, text)
    if found is None:
        return text
    strings = _STRING.findall(text)
    return _replace(
        text, found, rng.choice(strings) if rng.random() < 0.4 else rng.choice(_STRINGS)
    )


def _symbol(rng: Random, text: str, _: Pool) -> str:
    """Changes a symbol to another one of the module or to an unknown one, at one place or
    everywhere."""
    found, other = _any(rng, _SYMBOL, text), _any(rng, _SYMBOL, text)
    if found is None or other is None:
        return text
    new = rng.choice(
        (other.group(), other.group(), "@main", "@prepare_weights", "@nowhere", "@convoy_main")
    )
    return (
        re.sub(rf"{re.escape(found.group())}(?![\w$.-])", lambda _: new, text)
        if rng.random() < 0.4
        else _replace(text, found, new)
    )


def _bodies(rng: Random, text: str, _: Pool) -> str:
    """Changes functions and regions: a declaration in place of a function, an empty body, an early
    end, a module around everything."""
    match rng.randrange(6):
        case 0:
            found = _any(rng, _FUNCTION, text)
            return (
                text
                if found is None
                else _replace(text, found, f"func.func private {found.group(1)}")
            )
        case 1:
            found = _any(rng, re.compile(r"\{\n([^{}]*\n)[ \t]*\}"), text)
            return text if found is None else _replace(text, found, "", 1)
        case 2:
            return "module {\n" + text + "\n}"
        case 3:
            return "gpu.module @inner {\n" + text + "\n}"
        case 4:
            found = _any(
                rng, re.compile(r"(tcp|cudnn|convoy)\.[\w.]+ = (?:\"[^\"]*\"|[\w.]+)(?=[,}])"), text
            )
            name = found.group().partition(" =")[0] if found else ""
            return (
                text if found is None else _replace(text, found, f"{name} = {rng.choice(_VALUES)}")
            )
        case _:
            return (
                re.sub(r"@main\b", "@other", text)
                if "@main" in text
                else re.sub(r"@[\w$.]+(?=\()", "@main", text, count=1)
            )


def _bytes(rng: Random, text: str, _: Pool) -> str:
    data = bytearray(text.encode(errors="surrogateescape"))
    for _ in range(rng.choice((1, 1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] = rng.choice((0, 10, 34, 255, rng.randrange(256)))
    return data.decode(errors="surrogateescape")


_Mutation = Callable[[Random, str, Pool], str]
#: The weight of each mutation: highest for those whose results usually verify, and so reach the
#: passes.
_WEIGHTED: tuple[tuple[_Mutation, int], ...] = (
    (_integer, 16), (_float, 5), (_dim, 2), (_dim_everywhere, 24), (_dims_of_one_type, 4),
    (_element, 16), (_container, 3),
    (_attribute, 12), (_length_of_list, 12), (_op_name, 16), (_operand, 7), (_operand_list, 3),
    (_lines, 5), (_splice, 3), (_results,
    3), (_tokens, 1), (_string, 6), (_symbol, 5), (_bodies, 7), (_bytes, 1),
)  # fmt: skip
_MUTATIONS = [each for each, _ in _WEIGHTED]
_WEIGHTS = [weight for _, weight in _WEIGHTED]
