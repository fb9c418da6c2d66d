# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Types of the extension (python/bindings/ConvoyModule.cpp). `test/tools/test_stub.py` compares
them with the built module."""

from collections.abc import Callable, Sequence

#: The oldest cuDNN that compiled programs run with, as CUDNN_VERSION: 90200 is 9.2.0.
MINIMUM_CUDNN: int

class CompilationFailed(Exception):
    """A phase failed. `args` are the name of the phase and its diagnostics: severity, file, line,
    column and message of each."""

    args: tuple[str, list[tuple[str, str, int, int, str]]]

def backend_names() -> list[tuple[str, str, int]]: ...
def check_options(options: Sequence[tuple[str, str]]) -> None: ...
def compile(
    text: str,
    name: str,
    from_phase: str,
    options: Sequence[tuple[str, str]],
    dump: Callable[[str, str], None] | None = None,
) -> tuple[bytes, dict[str, str], str]: ...
def compile_graphs(text: str, name: str) -> tuple[bytes, str]: ...
def emit(
    text: str, name: str, options: Sequence[tuple[str, str]]
) -> tuple[bytes, dict[str, str], str]: ...
def group_roles() -> list[tuple[str, str, str, str]]: ...
def llvm_version() -> str: ...
def phases() -> list[tuple[str, str]]: ...
def program_target(text: str, name: str) -> str | None: ...
def run_phases(
    text: str,
    name: str,
    from_phase: str,
    to_phase: str,
    options: Sequence[tuple[str, str]],
    dump: Callable[[str, str], None] | None = None,
) -> str: ...
def run_pipeline(text: str, name: str, pipeline: str) -> str: ...
def verify(text: str, name: str) -> None: ...
