"""The runtime calls of compiled programs: pointers, sizes, order, and the handling of a status."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_void_p

import pytest

from convoy_runtime._abi import ConvoyRuntime

PROGRAM = """
func.func @program(%runtime: !llvm.ptr, %x: memref<4x2xf32>, %flags: memref<3xi1>, %y: memref<4x2xf32>, %arena: memref<1024xi8>) -> i32 {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0 : i32
  %a = memref.view %arena[%c512][] : memref<1024xi8> to memref<4x2xf32>
  %b = memref.view %arena[%c0][] : memref<1024xi8> to memref<3xi1>
  %row = memref.subview %x[1, 0] [2, 2] [1, 1] : memref<4x2xf32> to memref<2x2xf32, strided<[2, 1], offset: 2>>
  cudnn_backend.execute_graph %runtime, call = 0 (%x, %a, %y) : memref<4x2xf32>, memref<4x2xf32>, memref<4x2xf32>
  cudnn_backend.launch_kernel %runtime, kernel = 7 grid [5, 6, 7] block [32, 2, 1] shared 4096 (%row, %a)
    : memref<2x2xf32, strided<[2, 1], offset: 2>>, memref<4x2xf32>
  cudnn_backend.copy %runtime, %y, %a : memref<4x2xf32>, memref<4x2xf32>
  cudnn_backend.copy %runtime, %b, %flags : memref<3xi1>, memref<3xi1>
  cudnn_backend.execute_graph %runtime, call = 1 ()
  return %zero : i32
}
"""
CONTEXT, X, FLAGS, Y, ARENA = 0x1000, 0x20_0000, 0x30_0000, 0x40_0000, 0x50_0000
EXPECTED = [
    ("execute", 0, [X, ARENA + 512, Y]),
    ("launch", 7, [5, 6, 7], [32, 2, 1], 4096, [X + 8, ARENA + 512]),
    ("copy", Y, ARENA + 512, 32),
    ("copy", ARENA, FLAGS, 3),
    ("execute", 1, []),
]


@pytest.fixture(scope="module")
def program(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    return build_library(PROGRAM, "--expand-strided-metadata")


def _run(program: ctypes.CDLL, fail_at: int | None = None) -> tuple[int, list[tuple[object, ...]]]:
    calls: list[tuple[object, ...]] = []

    def done(context: int, *call: object) -> int:
        assert context == CONTEXT
        calls.append(call)
        return 700 if fail_at == len(calls) - 1 else 0

    table = ConvoyRuntime(
        abi_version=3,
        context=CONTEXT,
        execute_graph=ConvoyRuntime.EXECUTE(
            lambda context, call, pointers, n: done(context, "execute", call, pointers[:n])
        ),
        launch_kernel=ConvoyRuntime.LAUNCH(
            lambda context, kernel, grid, block, shared, pointers, n: done(
                context, "launch", kernel, grid[:3], block[:3], shared, pointers[:n]
            )
        ),
        copy=ConvoyRuntime.COPY(
            lambda context, destination, source, size: done(
                context, "copy", destination, source, size
            )
        ),
    )
    entry = ctypes.CFUNCTYPE(
        c_int32, ctypes.POINTER(ConvoyRuntime), c_void_p, c_void_p, c_void_p, c_void_p
    )(("program", program))
    return entry(ctypes.byref(table), X, FLAGS, Y, ARENA), calls


def test_calls_in_program_order(program: ctypes.CDLL) -> None:
    assert _run(program) == (0, EXPECTED)


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_error_status_ends_the_program(program: ctypes.CDLL, number: int) -> None:
    assert _run(program, fail_at=number) == (700, EXPECTED[: number + 1])
