# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Starts the Triton Inference Server of the package nvidia-pytriton, which needs no GPU, with
explicit control of models."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Server", "running_server"]

#: Seconds until a server that does not answer is given up.
_PATIENCE = 60


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        process: Its process.
        http: Host and port of the HTTP interface.
        grpc: Those of the gRPC interface.
        metrics: The URL of its metrics.
        log: The file with its output.
    """

    process: subprocess.Popen[bytes]
    http: str
    grpc: str
    metrics: str
    log: Path

    def stubs(self, model: str) -> list[int]:
        """The process ids of the instances of a model of the Python backend."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                command = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if (
                    parent == self.process.pid
                    and command[0].endswith(b"triton_python_backend_stub")
                    and Path(os.fsdecode(command[1])).parent.parent.name == model
                ):
                    found.append(int(folder.name))
        return found


@contextlib.contextmanager
def running_server(repository: Path, folder: Path, *options: str) -> Iterator[Server]:
    """Runs a server until the end of the block.

    Args:
        repository: The model repository.
        folder: An existing folder for files of the server.
        *options: Further options of the command.

    Yields:
        The server, which answers and has loaded no model unless `options` say so.

    Raises:
        RuntimeError: The server does not start; with its output.
    """
    package = importlib.util.find_spec("pytriton")
    if package is None or not package.submodule_search_locations:
        message = "nvidia-pytriton is not installed: run `make test-serving` once"
        raise RuntimeError(message)
    files = Path(package.submodule_search_locations[0], "tritonserver")
    http, grpc, metrics = (f"127.0.0.1:{port}" for port in _free_ports(3))
    command = [
        str(files / "bin" / "tritonserver"),
        f"--model-repository={repository}",
        f"--backend-directory={_backends(files, folder)}",
        "--model-control-mode=explicit",
        "--exit-timeout-secs=10",
        *_addresses(http=http, grpc=grpc, metrics=metrics),
        *options,
    ]
    # The backend uses the packages of the first python3 in the path, and ignores PYTHONPATH.
    path = f"{Path(sys.prefix, 'bin')}:{os.environ['PATH']}"
    log = folder / "tritonserver.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, "PATH": path}
        ) as process,
    ):
        server = Server(process, http, grpc, f"http://{metrics}/metrics", log)
        try:
            _wait(server)
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _backends(files: Path, folder: Path) -> Path:
    """A folder of backends with the stub for this version of Python, which the package keeps
    elsewhere."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = files / "python_backend_stubs" / version / "triton_python_backend_stub"
    if not stub.is_file():
        message = f"nvidia-pytriton has no stub for Python {version}"
        raise RuntimeError(message)
    backend = folder / "backends" / "python"
    backend.mkdir(parents=True)
    for path in (*(files / "backends" / "python").iterdir(), stub):
        (backend / path.name).symlink_to(path)
    return backend.parent


def _addresses(**addresses: str) -> Iterator[str]:
    for name, address in addresses.items():
        host, _, port = address.partition(":")
        yield f"--{name}-address={host}"
        yield f"--{name}-port={port}"


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(server: Server) -> None:
    """Waits until the server answers."""
    end = time.monotonic() + _PATIENCE
    while server.process.poll() is None and time.monotonic() < end:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://{server.http}/v2/health/ready", timeout=5),
        ):
            return
        time.sleep(0.05)
    message = f"{server.process.args} did not start:\n{server.log.read_text(errors='replace')}"
    raise RuntimeError(message)
