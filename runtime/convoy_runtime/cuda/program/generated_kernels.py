# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The kernels that a program launches outside of graphs (kernels.ptx). Their machine code is kept
in the plan store.

The driver's compiler takes seconds for a hundred kernels on one core, and meanwhile cuDNN's first
call waits. nvJitLink compiles parts of them on all cores, but the driver's cache does not get its
result."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from convoy_runtime.artifact import Artifact
from convoy_runtime.cuda.driver.device import Device
from convoy_runtime.cuda.driver.ptx import PtxCompiler, identity_of, load_code, load_ptx
from convoy_runtime.cuda.driver.ptx_parts import split_ptx
from convoy_runtime.cuda.plans.kernels import Kernels
from convoy_runtime.cuda.plans.store import PlanStore
from convoy_runtime.errors import ArtifactError, CudaError
from convoy_runtime.manifest import Kernel
from convoy_runtime.timings import part

from .resources import call_quietly

__all__ = ["GeneratedKernels"]

_PTX: Final = "kernels.ptx"
#: The level of the record: the code is the same after tuning.
_LEVEL: Final = "off"


class GeneratedKernels:
    """Loads the kernels of kernels.ptx.

    Args:
        device: The GPU, which is current in every call.
        artifact: The artifact.
        store: The plan store; None if the program has no graphs.
        stores: Whether the machine code is put into `store`. Otherwise the driver compiles the
            kernels, unless the store has them.
    """

    def __init__(
        self, device: Device, artifact: Artifact, store: PlanStore | None, *, stores: bool
    ) -> None:
        self._device, self._artifact, self._store = device, artifact, store
        self._stores = stores and store is not None
        #: The text of the record with the machine code; None if the driver has compiled it.
        self._plan: str | None = None
        self._is_new = False

    @part("kernels")
    def load(self, stack: contextlib.ExitStack) -> list[Any]:
        """Returns the functions of the manifest's kernels, in its order.

        Args:
            stack: Unloads the kernels.

        Raises:
            ArtifactError: The artifact's PTX lacks a kernel.
            CudaError: The driver rejects the PTX.
        """
        functions = self._load(stack)
        self._keep()
        return functions

    @contextlib.contextmanager
    def loading(
        self, stack: contextlib.ExitStack, plans: Kernels
    ) -> Iterator[Callable[[], list[Any]]]:
        """Loads the kernels on a thread inside the `with`.

        Args:
            stack: Unloads the kernels.
            plans: The artifact's kernels for graphs. Nothing is timed while kernels are compiled.

        Yields:
            A function that returns the result of `load`, or raises its error.
        """
        # Imported here, because a load without tuning does not need it.
        from concurrent.futures import ThreadPoolExecutor

        def load() -> list[Any]:
            # A new thread has no current context.
            with self._device.current():
                return self._load(stack)

        with ThreadPoolExecutor(1, thread_name_prefix="kernels") as thread:
            plans.others = loaded = thread.submit(load)

            @part("kernels")
            def functions() -> list[Any]:
                found = loaded.result()
                self._keep()
                return found

            yield functions

    def members(self) -> dict[str, bytes]:
        """Returns the machine code as a member of an artifact, name to content; empty if the driver
        has compiled it."""
        if self._store is None or self._plan is None:
            return {}
        return dict([self._store.member(self._content(), "", _LEVEL, self._plan, {})])

    def _load(self, stack: contextlib.ExitStack) -> list[Any]:
        if not self._artifact.manifest.kernels:
            return []
        for record in self._store.load(self._content(), "") if self._store is not None else []:
            # Unusable code is compiled anew.
            with contextlib.suppress(CudaError, ValueError, ArtifactError):
                functions = self._functions(_codes(record.plan), stack)
                self._plan = record.plan
                return functions
        text = bytes(self._artifact.members[_PTX])
        if not self._stores:
            return self._functions([text], stack, load=load_ptx)
        texts = {f"{_PTX} ({index})": each for index, each in enumerate(split_ptx(text))}
        compiler = PtxCompiler(self._device, texts.__getitem__)
        with compiler.ahead(list(texts)):
            codes = [compiler.machine_code(name) for name in texts]
        functions = self._functions(codes, stack)
        self._plan = json.dumps([base64.b64encode(code).decode() for code in codes])
        self._is_new = True
        return functions

    def _functions(
        self,
        images: Sequence[bytes],
        stack: contextlib.ExitStack,
        load: Callable[[Device, bytes], Any] = load_code,
    ) -> list[Any]:
        """Returns the functions of the manifest's kernels from `images`, each of which has some of
        them. `load` returns the CUmodule of an image; by default images are machine code. Raises
        ArtifactError, CudaError."""
        modules = []
        for image in images:
            module = load(self._device, image)
            stack.callback(call_quietly, self._device.driver, "cuModuleUnload", module)
            modules.append(module)
        return [self._function(kernel, modules) for kernel in self._artifact.manifest.kernels]

    def _function(self, kernel: Kernel, modules: list[Any]) -> Any:
        """Returns the function of a kernel. Moves the module that has it to the front, because the
        next kernel is probably in the same one. Raises ArtifactError."""
        missing: CudaError | None = None
        for index, module in enumerate(modules):
            try:
                found = self._device.driver.call(
                    "cuModuleGetFunction", module, kernel.name.encode()
                )
            except CudaError as error:
                missing = error
            else:
                modules.insert(0, modules.pop(index))
                return found
        problem = f"kernel {kernel.name} of {kernel.location} is missing: {missing}"
        raise ArtifactError(problem=problem, path=self._artifact.path, member=_PTX) from missing

    def _keep(self) -> None:
        """Stores what was compiled. Not on the thread, because a store has no lock."""
        if self._store is not None and self._plan is not None and self._is_new:
            self._store.store(self._content(), "", _LEVEL, self._plan, {})

    def _content(self) -> str:
        """Returns the key of the machine code in the store: the PTX that is compiled."""
        return f"kernels {identity_of(self._device, self._artifact.manifest.files[_PTX].sha256)}"


def _codes(plan: str) -> list[bytes]:
    """Returns the machine code of a record. Raises ValueError if it has none."""
    value = json.loads(plan)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        message = "not a list of texts"
        raise ValueError(message)
    return [base64.b64decode(each, validate=True) for each in value]
