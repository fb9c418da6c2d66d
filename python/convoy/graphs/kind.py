"""What one kind of operation is called in cuDNN's backend and in cudnn-frontend: the row of the
tables in kinds.py and norm_kinds.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of operation. Attributes are named as in the descriptor table, without CUDNN_ATTR_;
    the rest as in cudnn-frontend 1.32."""

    #: In the JSON.
    tag: str
    #: Of the operation, and the attribute that holds its operator's, if there is one.
    descriptor: str
    #: The port of each attribute with a tensor.
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    operator: str = ""
    #: Values of attributes that tell this kind from others with the same descriptor.
    chosen_by: Mapping[str, Any] = field(default_factory=dict)
    #: The attribute with all inputs, whose ports are then numbers; `inputs` is empty.
    listed: str = ""
    #: The attribute with the type of the arithmetic.
    compute: str = ""
    #: The key in the JSON of each attribute, of operation or operator, that is no tensor; the keys'
    #: values when nothing is said.
    attributes: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Attributes with the only value that cudnn-frontend ever sends.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    #: Keys that the JSON has as the eight hexadecimal digits of a float.
    floats: frozenset[str] = frozenset()
    #: Keys that say whether a port has a tensor.
    present: Mapping[str, str] = field(default_factory=dict)
    #: Keys of what cudnn-frontend makes other operations of, with the value at which it makes none;
    #: and keys that it does nothing with.
    only: Mapping[str, Any] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    #: The only type of arithmetic that cudnn-frontend asks for; and the ports that it needs, where
    #: cuDNN does not.
    computes: str = ""
    needed: tuple[str, ...] = ()
    #: Ports whose tensors cudnn-frontend wants virtual.
    virtual: tuple[str, ...] = ()
    #: The class in `cudnn` that has the enumerators of a key.
    enums: Mapping[str, str] = field(default_factory=dict)
    #: Whether the JSON and the method have the compute type, needed or not.
    json_compute: bool = True
    method_compute: bool = True
    #: Why cudnn-frontend cannot say it at all: such a graph is drawn, and has no other form.
    foreign: str = ""
    #: Why cudnn-frontend cannot read back what it prints as JSON; empty where it can.
    json_flaw: str = ""
    #: Why its method says something else to cuDNN than it is told; empty where it does not.
    method_flaw: str = ""
    #: Of `cudnn.pygraph`, where it has one: the method, the parameter of each port and of each key
    #: that has another name, the ports of what the method returns when that is a list, values of
    #: keys that it has no parameter for, and flags that say whether a port is there.
    method: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    implied: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
