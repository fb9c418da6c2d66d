"""Compilation in forked child processes, in which only the forking thread exists."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import get_context

import pytest

from convoy import _convoy

TEXT = """module attributes {{tcp.target = "{target}"}} {{
  func.func @main(%x: tensor<1x8x6x6xf32> {{tcp.input = "x"}}, %w: tensor<8x8x3x3xf32> {{tcp.weight = "w"}})
      -> (tensor<1x8x6x6xf32> {{tcp.output = "0"}}) {{
    %0 = tcp.conv2d %x, %w {{dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}}
        : tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32> -> tensor<1x8x6x6xf32>
    %1 = tcp.exp %0 : tensor<1x8x6x6xf32> -> tensor<1x8x6x6xf32>
    return %1 : tensor<1x8x6x6xf32>
  }}
}}"""


def _compile(target: str, dump: Callable[[str, str], None] | None = None) -> tuple[object, ...]:
    options = [("target", target), ("cpu", "x86-64-v3")]
    return tuple(_convoy.compile(TEXT.format(target=target), "test.mlir", "tcp", options, dump))


def _in_child(function: Callable[[], bool]) -> None:
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        result = False
        try:
            result = function()
        finally:
            os._exit(0 if result else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_forked_child_compiles(target: str) -> None:
    expected = _compile(target)
    _in_child(lambda: _compile(target) == expected)
    # And a child of that child.
    _in_child(lambda: _in_child(lambda: _compile(target) == expected) is None)


def test_multiprocessing_workers_compile() -> None:
    expected = _compile("cpu")
    with get_context("fork").Pool(2) as pool:
        assert (
            pool.map_async(_compile, ["cpu", "cuda"] * 2).get(120)
            == [expected, _compile("cuda")] * 2
        )


def test_fork_while_another_thread_compiles() -> None:
    """Forks between two phases: in native code the thread holds the interpreter lock, so no other
    thread can fork."""
    expected, inside, go_on, results = (
        _compile("cpu"),
        threading.Semaphore(0),
        threading.Semaphore(0),
        [],
    )

    def dump(_phase: str, _text: str) -> None:
        inside.release()
        go_on.acquire()

    def work() -> None:
        results.append(_compile("cpu", dump))
        inside.release()

    compiling = threading.Thread(target=work)
    compiling.start()
    while inside.acquire(timeout=60) and not results:
        _in_child(lambda: _compile("cpu") == expected)
        go_on.release()
    compiling.join(60)
    assert results == [expected]


#: A user's program: torch has computed with all of its threads, and a model was compiled and run;
#: then both happen in a child.
MODEL = """
import os, signal, torch, convoy

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Flatten(),
                                          torch.nn.Linear(16 * 30 * 30, 10))

    def forward(self, x):
        return torch.softmax(self.layers(x), 1)

def check():
    compiled = convoy.compile(module, (x,), target="cpu")
    torch.testing.assert_close(compiled(x), expected)

torch.set_num_threads(2)
module, x = Model().eval(), torch.randn(4, 3, 32, 32)
with torch.no_grad():
    expected = module(x)
check()
child = os.fork()
if child == 0:
    signal.alarm(120)
    check()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
check()
"""


def test_model_in_a_forked_child() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MODEL], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
