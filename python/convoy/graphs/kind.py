# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The mapping of an operation between cuDNN's backend and cudnn-frontend: a row of the tables in
kinds.py and *_kinds.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Kind"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of operation. Attributes have the names of the descriptor table, without CUDNN_ATTR_.
    Tags, ports, keys, methods and parameters are those of cudnn-frontend 1.32."""

    #: The tag in the JSON.
    tag: str
    #: The kind of the operation's descriptor.
    descriptor: str
    #: Attribute with a tensor to port.
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    #: The attribute with the descriptor of the operator, if any.
    operator: str = ""
    #: Attributes whose values distinguish kinds with the same descriptor.
    chosen_by: Mapping[str, Any] = field(default_factory=dict)
    #: The attribute with a list of all inputs. Ports are then numbers, and `inputs` is empty.
    listed: str = ""
    #: The attribute with the compute type.
    compute: str = ""
    #: Attribute of the operation or the operator, without tensors, to key in the JSON.
    attributes: Mapping[str, str] = field(default_factory=dict)
    #: Key to default value.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: Attribute to the only value that cudnn-frontend sets.
    fixed: Mapping[str, Any] = field(default_factory=dict)
    #: Keys whose values are eight hexadecimal digits of a float in the JSON.
    floats: frozenset[str] = frozenset()
    #: Key to port: whether the port has a tensor.
    present: Mapping[str, str] = field(default_factory=dict)
    #: Key to the only value for which cudnn-frontend builds this single operation.
    only: Mapping[str, Any] = field(default_factory=dict)
    #: Keys without an effect on the graph.
    hints: tuple[str, ...] = ()
    #: The only compute type that cudnn-frontend sets.
    computes: str = ""
    #: Ports that cudnn-frontend requires and cuDNN does not.
    needed: tuple[str, ...] = ()
    #: Ports for which cudnn-frontend requires virtual tensors.
    virtual: tuple[str, ...] = ()
    #: Key to the class in `cudnn` with its enumerators.
    enums: Mapping[str, str] = field(default_factory=dict)
    #: Whether the JSON and the method have a compute type.
    json_compute: bool = True
    method_compute: bool = True
    #: Why cudnn-frontend cannot express the operation; it can then be printed as dot only.
    foreign: str = ""
    #: Why cudnn-frontend cannot read its own JSON; empty if it can.
    json_flaw: str = ""
    #: Why the method passes other values to cuDNN than its arguments; empty if it does not.
    method_flaw: str = ""
    #: The method of `cudnn.pygraph`, if any.
    method: str = ""
    #: Port to parameter.
    arguments: Mapping[str, str] = field(default_factory=dict)
    #: Key to parameter with another name.
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: The ports of the method's results, if it returns a list.
    results: tuple[str, ...] = ()
    #: Key without a parameter to the value that the method sets.
    implied: Mapping[str, Any] = field(default_factory=dict)
    #: Parameter to port: whether the port has a tensor.
    flags: Mapping[str, str] = field(default_factory=dict)
