"""Artifacts on disk: written whole or not at all; read only when every byte is as it was written."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, affine_manifest

import convoy_runtime
from convoy import artifact as writer
from convoy.artifact import HostTensor, write_artifact
from convoy.errors import ArtifactWriteError
from convoy_runtime import ArtifactError
from convoy_runtime import artifact as reader
from convoy_runtime._safetensors import read_safetensors, write_safetensors
from convoy_runtime.artifact import check_host, open_artifact
from convoy_runtime.manifest import FORMAT_VERSION, Host, TensorSpec
from convoy_runtime.manifest_reader import read_manifest


def test_members_are_aligned_and_mapped(affine: Path, affine_so: bytes) -> None:
    artifact = open_artifact(affine)
    assert bytes(artifact.members["native.so"]) == affine_so
    for content in artifact.members.values():
        assert np.frombuffer(content, np.uint8).ctypes.data % 64 == 0
    weights = artifact.weights()
    assert weights is not None
    np.testing.assert_array_equal(weights["ws"].array, PREPARED["ws"].array)
    assert not weights["ws"].array.flags.owndata
    assert zipfile.ZipFile(affine).testzip() is None


def test_equal_inputs_give_equal_files(tmp_path: Path, affine: Path, affine_so: bytes) -> None:
    write_artifact(tmp_path / "again", affine_manifest(), {"native.so": affine_so}, PREPARED)
    assert (tmp_path / "again").read_bytes() == affine.read_bytes()


def test_safetensors_agrees_with_the_library(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array(True),
        "c": np.zeros((0, 4), np.int64),
        "d": np.ones(16, np.float32),
    }
    tensors = {name: HostTensor(array.dtype.name, array) for name, array in arrays.items()}
    ours = b"".join(write_safetensors(tensors))
    for name, array in safetensors.load(ours).items():
        np.testing.assert_array_equal(array, arrays[name])
    theirs = read_safetensors(safetensors.save(arrays), path="x")
    assert {name: tensor.dtype for name, tensor in theirs.items()} == {"a": "float32", "b": "bool", "c": "int64", "d": "float32"}
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(tensor.array, arrays[name])


def test_bfloat16_is_kept_as_bits() -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    values = torch.tensor([1.0, -2.5, 3e38], dtype=torch.bfloat16)
    read = read_safetensors(safetensors.save({"v": values}), path="x")["v"]
    assert (read.dtype, read.array.dtype) == ("bfloat16", np.uint16)
    assert read.array.tolist() == values.view(torch.uint16).tolist()
    assert torch.equal(safetensors.load(b"".join(write_safetensors({"v": read})))["v"], values)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"abc", "is no safetensors file: 3 bytes are too few"),
        (b"\xff" * 16, "a header of 18446744073709551615 bytes in a file of 16"),
        (b"\x02" + b"\0" * 7 + b"{]", "the header is no JSON"),
        (b"\x02" + b"\0" * 7 + b"[]", "the header is no object"),
        (b"\x08" + b"\0" * 7 + b'{"w": 1}', "w: expected an object with dtype, shape and data_offsets"),
        (b"\x36" + b"\0" * 7 + b'{"w": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'.ljust(54)[:54], "?"),
    ],
)
def test_bad_safetensors(content: bytes, message: str) -> None:
    if message == "?":
        header = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        content = len(header).to_bytes(8, "little") + header + b"1234"
        message = "w: bytes 0 to 8 do not hold F32 of shape [2] in 4 bytes of data"
    with pytest.raises(ArtifactError) as caught:
        read_safetensors(content, path="w.safetensors")
    assert str(caught.value).startswith("w.safetensors: ")
    assert message in str(caught.value)


def refused(path: Path) -> str:
    with pytest.raises(ArtifactError) as caught:
        convoy_runtime.load(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def test_absent_and_foreign_files(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in refused(tmp_path / "absent")
    assert "cannot be read: Is a directory" in refused(tmp_path)
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert "is empty" in refused(path)
    path.write_bytes(b"\x7fELF and so on")
    assert "is no Convoy artifact: it does not start as a zip does" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"x")
    assert "is a zip, but no Convoy artifact: it has no manifest.json" in refused(path)


def test_every_truncation_is_noticed(affine: Path) -> None:
    whole = affine.read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        affine.write_bytes(whole[:length])
        assert "is truncated or damaged" in refused(affine)


def test_every_flipped_member_is_noticed(affine: Path) -> None:
    whole = affine.read_bytes()
    members = open_artifact(affine).members
    for name, content in members.items():
        damaged = bytearray(whole)
        damaged[whole.index(bytes(content)) + len(content) // 2] ^= 1
        affine.write_bytes(damaged)
        assert f"{name}: is damaged: expected sha256" in refused(affine)
    damaged = bytearray(whole)
    damaged[whole.index(b'"format_version"') + 1] ^= 1
    affine.write_bytes(damaged)
    assert "manifest.json" in refused(affine)


def test_large_weights_are_hashed_in_the_background(affine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_HASHED_AT_ONCE", 0)
    with convoy_runtime.load(affine) as program:
        assert program.timings["hashing"] > 0
    content = bytes(open_artifact(affine).members["weights.safetensors"])
    damaged = bytearray(affine.read_bytes())
    damaged[damaged.index(content) + len(content) - 1] ^= 1
    affine.write_bytes(damaged)
    assert "weights.safetensors: is damaged: expected sha256" in refused(affine)
    given = {spec.name: np.ones(spec.shape, spec.dtype) for spec in affine_manifest().weights}
    with pytest.raises(ArtifactError, match="is damaged"):
        convoy_runtime.load(affine, weights=given)
    with pytest.raises(ArtifactError, match="is damaged"):
        open_artifact(affine)
    with pytest.raises(ArtifactError, match="is damaged"):
        open_artifact(affine, background=True).weights()


def rezip(
    path: Path, change: Callable[[dict[str, bytes]], None], compression: int = zipfile.ZIP_STORED, extra: tuple[str, bytes] | None = None
) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if extra:
            archive.writestr(*extra)


def nothing(_: dict[str, bytes]) -> None:
    pass


def test_members_more_or_less(affine: Path) -> None:
    whole = affine.read_bytes()

    def check(change: Callable[[dict[str, bytes]], object], message: str) -> None:
        affine.write_bytes(whole)
        rezip(affine, lambda members: change(members) and None)
        assert message in refused(affine)

    check(lambda members: members.pop("native.so"), "native.so: is listed in manifest.json but missing")
    check(lambda members: members.update(extra=b"1"), "extra: is not listed in manifest.json")
    check(lambda members: members.update({"../up": b"1"}), "'../up': is no name that a member may have")
    check(lambda members: members.update({"/etc/x": b"1"}), "'/etc/x': is no name that a member may have")
    check(lambda members: members.update({"native.so": b"short"}), "native.so: is truncated or damaged: expected")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_compressed_and_double_members(affine: Path) -> None:
    whole = affine.read_bytes()
    rezip(affine, nothing, zipfile.ZIP_DEFLATED)
    assert "is compressed or encrypted" in refused(affine)
    affine.write_bytes(whole)
    rezip(affine, nothing, extra=("native.so", b"other"))
    assert "native.so: is there twice" in refused(affine)


def test_newer_version(affine: Path) -> None:
    def newer(members: dict[str, bytes]) -> None:
        members["manifest.json"] = json.dumps(
            {**json.loads(members["manifest.json"]), "format_version": FORMAT_VERSION + 1, "new": 1}
        ).encode()

    rezip(affine, newer)
    assert f"manifest.json: format_version: this runtime reads format version {FORMAT_VERSION}, the artifact is newer" in refused(affine)


def test_another_machine(tmp_path: Path, affine_so: bytes) -> None:
    path = tmp_path / "a"
    write_artifact(path, affine_manifest(host=Host("aarch64-unknown-linux-gnu", "generic", ())), {"native.so": affine_so})
    assert "host.triple: the artifact was compiled for another machine: expected aarch64-unknown-linux-gnu, got x86_64 Linux" in refused(
        path
    )
    write_artifact(path, affine_manifest(host=Host("x86_64-unknown-linux-gnu", "later", ("sse2", "avx9000"))), {"native.so": affine_so})
    assert (
        "host.features: the artifact was compiled for another machine: expected a CPU like later with avx9000, got one without"
        in refused(path)
    )
    assert open_artifact(path, any_host=True).manifest.host.cpu == "later"


def test_feature_names_of_llvm(tmp_path: Path) -> None:
    shown = "fpu sse2 pni ssse3 sse4_1 sse4_2 abm bmi1 bmi2 avx2 fma f16c movbe popcnt cx16 lahf_lm pclmulqdq amx_bf16 avx512_vbmi2"
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor: 0\nflags\t\t: {shown}\n\nprocessor: 1\nflags\t\t: fpu\n")
    names = "sse3 ssse3 sse4.1 sse4.2 crc32 lzcnt bmi bmi2 avx2 fma f16c movbe popcnt cx16 sahf pclmul"
    # Other punctuation, and two that Linux does not show.
    features = tuple(f"{names} amx-bf16 avx512vbmi2 avx10.1 prefetchi".split())
    host = Host("x86_64-unknown-linux-gnu", "x86-64-v3", features)
    check_host(host, cpuinfo=cpuinfo)
    cpuinfo.write_text(cpuinfo.read_text().replace("abm ", "").replace("fma ", ""))
    with pytest.raises(ArtifactError, match="expected a CPU like x86-64-v3 with lzcnt, fma, got one without$"):
        check_host(host, cpuinfo=cpuinfo)
    with pytest.raises(ArtifactError, match=r"cannot tell this machine's CPU features: .*No such file"):
        check_host(host, cpuinfo=tmp_path / "none")


def test_weights_must_be_the_manifest_s(tmp_path: Path, affine_so: bytes) -> None:
    with pytest.raises(ValueError, match="do not agree with the manifest: b: expected"):
        write_artifact(tmp_path / "a", affine_manifest(), {"native.so": affine_so}, {"ws": PREPARED["ws"]})

    def written(prepared: tuple[TensorSpec, ...]) -> str:
        path = tmp_path / "a"
        write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)

        def change(members: dict[str, bytes]) -> None:
            from dataclasses import replace

            members["manifest.json"] = replace(read_manifest(members["manifest.json"]), prepared=prepared).to_json().encode()

        rezip(path, change)
        return refused(path)

    ws, b = affine_manifest().prepared
    assert "weights.safetensors: b: is in the file but not in the manifest" in written((ws,))
    assert "weights.safetensors: z: is in the manifest but not in the file" in written((ws, b, TensorSpec("z", (1,), "float32")))
    assert "b: differs from the manifest: expected float16[3], got float32[3]" in written((ws, TensorSpec("b", (3,), "float16")))


def test_unwritable_path(tmp_path: Path, affine: Path, affine_so: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArtifactWriteError, match="no/such/x: cannot write the artifact: No such file or directory"):
        write_artifact(tmp_path / "no/such/x", affine_manifest(), {"native.so": affine_so})
    with pytest.raises(ArtifactWriteError, match="Is a directory"):
        write_artifact(tmp_path, affine_manifest(), {"native.so": affine_so})
    before = affine.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactWriteError, match=r"affine\.convoy: cannot write the artifact: No space left on device"):
        write_artifact(affine, affine_manifest(), {"native.so": affine_so})
    assert affine.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["affine.convoy"]


def test_large_members_stay_aligned(tmp_path: Path, affine_so: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past zip64's limit, lowered here, zipfile writes a longer header; the data must still be aligned and readable."""
    monkeypatch.setattr(writer.zipfile, "ZIP64_LIMIT", 1000)
    path = tmp_path / "large"
    write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)
    monkeypatch.undo()
    members = open_artifact(path).members
    assert bytes(members["native.so"]) == affine_so
    assert all(np.frombuffer(content, np.uint8).ctypes.data % 64 == 0 for content in members.values())
