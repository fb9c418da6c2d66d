"""The kernels of runtime/device/copies.cu on the host: inputs into windows with zeros around them,
and windows into outputs, at any address."""

from __future__ import annotations

import ctypes
import shutil

import numpy as np
import pytest
from emulated import DEVICE, build

from convoy_runtime._abi import ConvoyCopy

#: Bytes around each array, which must not change.
GUARD = 64
#: Shapes of arrays and their buffers, in bytes: rows, width and pitch.
SHAPES = (
    (1, 16, 16),
    (1, 15, 15),
    (1, 1, 1),
    (1, 33, 80),
    (1, 33, 47),
    (1, 32, 45),
    (1, 5, 9),
    (1, 48, 300001),
    (1, 50003, 50003),
    (1, 40000, 50000),
    (1, 40001, 40016),
    (1, 40001, 40015),
    (3, 16, 48),
    (7, 20, 60),
    (5, 3, 11),
    (200, 64, 96),
    (300, 9, 9),
    (0, 8, 8),
    (1, 0, 24),
    (4, 0, 16),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("emulation")
    (folder / "device").mkdir()
    shutil.copytree(DEVICE.parent / "abi", folder / "abi")
    kernels = (DEVICE / name for name in ("copies.cu", "kernel_abi.h"))
    return build(folder / "device", kernels, "copies.cpp")


def memory(size: int, misaligned: int, random: np.random.Generator) -> tuple[np.ndarray, int]:
    """An array of random bytes, and the place in it of `size` of them."""
    whole = random.integers(1, 256, size + 2 * GUARD + 64, dtype=np.uint8)
    place = GUARD + -(whole.ctypes.data + GUARD) % 16 + misaligned
    return whole, place


@pytest.mark.parametrize("misaligned", [(0, 0), (2, 0), (0, 1), (8, 8)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("out", [False, True])
def test_copies(
    library: ctypes.CDLL, shape: tuple[int, int, int], misaligned: tuple[int, int], out: bool
) -> None:
    rows, width, pitch = shape
    random = np.random.default_rng(rows * 7 + width)
    array, of_array = memory(rows * width, misaligned[0], random)
    buffer, of_buffer = memory(rows * pitch, misaligned[1], random)
    packed = array[of_array : of_array + rows * width].reshape(rows, width)
    expected = (array if out else buffer).copy()
    if out:
        window = buffer[of_buffer : of_buffer + rows * pitch].reshape(rows, pitch)[:, :width]
        expected[of_array : of_array + rows * width] = window.reshape(-1)
    else:
        whole = np.zeros((rows, pitch), np.uint8)
        whole[:, :width] = packed
        expected[of_buffer : of_buffer + rows * pitch] = whole.reshape(-1)
    addresses = [array.ctypes.data + of_array, buffer.ctypes.data + of_buffer]
    to, source = addresses if out else addresses[::-1]
    pitches = (width, pitch) if out else (pitch, width)
    nothing = ConvoyCopy(1, 1, 0, 8, 8, 8)
    copies = (ConvoyCopy * 2)(nothing, ConvoyCopy(to, source, rows, width, *pitches))
    for blocks in (1, 3):
        library.run(copies, 2, blocks)
        np.testing.assert_array_equal(array if out else buffer, expected)
