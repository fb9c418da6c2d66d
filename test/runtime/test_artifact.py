"""Artifact files: written as a whole or not at all, and read only if every byte is unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from runtime_fixtures import PREPARED, affine_manifest, packed, rewrite

import convoy_runtime
from convoy.artifact import write_artifact
from convoy.errors import ArtifactWriteError
from convoy_runtime import ArgumentError, ArtifactError, _archive, _zip
from convoy_runtime.artifact import check_host
from convoy_runtime.manifest import FORMAT_VERSION, Host, TensorSpec
from convoy_runtime.manifest_reader import read_manifest
from convoy_runtime.opening import open_artifact


def test_members_are_aligned_in_memory(affine: Path, affine_so: bytes) -> None:
    artifact = open_artifact(affine)
    assert bytes(artifact.members["native.so"]) == affine_so
    for content in artifact.members.values():
        assert np.frombuffer(content, np.uint8).ctypes.data % 64 == 0
    weights = artifact.weights()
    assert weights is not None
    np.testing.assert_array_equal(weights["ws"].array, PREPARED["ws"].array)
    assert not weights["ws"].array.flags.owndata
    assert zipfile.ZipFile(affine).testzip() is None


def test_equal_contents_give_equal_files(tmp_path: Path, affine: Path, affine_so: bytes) -> None:
    write_artifact(tmp_path / "again", affine_manifest(), {"native.so": affine_so}, PREPARED)
    assert (tmp_path / "again").read_bytes() == affine.read_bytes()


def refused(path: Path) -> str:
    with pytest.raises(ArtifactError) as caught:
        convoy_runtime.load(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def test_absent_and_foreign_files(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in refused(tmp_path / "absent")
    assert "cannot be read: expected a regular file, got a directory" in refused(tmp_path)
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert "is empty" in refused(path)
    path.write_bytes(b"\x7fELF and so on")
    assert "is not a Convoy artifact: it does not begin like a zip file" in refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"x")
    assert (
        "is a zip file, but not a Convoy artifact: it does not begin with manifest.json"
        in refused(path)
    )


def test_every_truncation_is_detected(affine: Path) -> None:
    whole = affine.read_bytes()
    for length in (*range(0, len(whole), 97), *range(len(whole) - 100, len(whole))):
        affine.write_bytes(whole[:length])
        message = refused(affine)
        assert "is truncated or damaged" in message or length < 64, message


def test_additional_bytes_are_detected(affine: Path) -> None:
    whole = affine.read_bytes()
    end = whole[-93:]
    for more in (
        whole + b"\0",
        whole[:-93] + b"more" + end,
        b"\0" + whole,
        whole + end,
        whole[:64] + b"\0" * 64 + whole[64:],
    ):
        affine.write_bytes(more)
        with pytest.raises(ArtifactError):
            open_artifact(affine)


def test_every_flipped_bit_outside_the_members_is_detected(affine: Path) -> None:
    """Headers, padding, the directory, the end, and the manifest, on which everything depends. No
    bit is ignored."""
    whole = affine.read_bytes()
    covered: set[int] = set()
    for content in open_artifact(affine).members.values():
        begin = whole.index(bytes(content))
        covered.update(range(begin, begin + len(content)))
    places = [place for place in range(len(whole)) if place not in covered]
    assert len(places) > 1500
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        affine.write_bytes(damaged)
        with pytest.raises(ArtifactError):
            open_artifact(affine)


def test_every_flipped_member_is_detected(affine: Path) -> None:
    whole = affine.read_bytes()
    members = open_artifact(affine).members
    for name, content in members.items():
        for place in (0, len(content) // 2, len(content) - 1):
            damaged = bytearray(whole)
            damaged[whole.index(bytes(content)) + place] ^= 1
            affine.write_bytes(damaged)
            assert f"{name}: is damaged: expected sha256" in refused(affine)
    damaged = bytearray(whole)
    damaged[whole.index(b'"format_version"') + 1] ^= 1
    affine.write_bytes(damaged)
    assert "manifest.json: is damaged: expected sha256:" in refused(affine)


def test_digest_covers_the_whole_artifact(affine: Path, affine_bare: Path) -> None:
    with zipfile.ZipFile(affine) as archive:
        digest = f"sha256:{hashlib.sha256(archive.read('manifest.json')).hexdigest()}"
        assert archive.comment.decode() == digest
    assert open_artifact(affine).digest == digest
    assert open_artifact(affine_bare).digest != digest
    # The manifest contains the CRC of each member, so the digest covers it too.
    rewrite(
        affine, lambda tree, members: members.update({"native.so": members["native.so"] + b"\0"})
    )
    assert open_artifact(affine).digest != digest


def test_digest_of_another_artifact_is_refused(affine: Path, affine_bare: Path) -> None:
    digest = open_artifact(affine).digest
    convoy_runtime.load(affine, digest=digest).close()
    with pytest.raises(
        ArtifactError,
        match=(
            r"bare\.convoy: digest: does not match the given digest.*expected "
            rf"{digest}, got sha256:"
        ),
    ):
        convoy_runtime.load(affine_bare, digest=digest)
    for text in (
        "",
        digest[7:],
        digest[:-1],
        digest.upper(),
        f"sha256:{'g' * 64}",
        "md5:" + digest[7:],
    ):
        with pytest.raises(
            ArgumentError,
            match="digest: is not the digest of an artifact: expected sha256: and 64 hexadecimal digits",
        ):
            convoy_runtime.load(affine, digest=text)


def test_large_weights_are_hashed_in_the_background(
    affine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_archive, "_READ_AT_ONCE", 0)
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


def test_repacked_artifact_is_refused(affine: Path) -> None:
    """By another program, whose zip has the same content in other bytes."""
    with zipfile.ZipFile(affine) as archive:
        members, comment = (
            {name: archive.read(name) for name in archive.namelist()},
            archive.comment,
        )
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(affine, "w", compression) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        assert (
            "has no digest of manifest.json: an older version of convoy wrote it, or "
            "another program repacked it"
        ) in refused(affine)
        with zipfile.ZipFile(affine, "a") as archive:
            archive.comment = comment
        with pytest.raises(ArtifactError):
            open_artifact(affine)


def test_members_and_manifest_disagree(affine: Path) -> None:
    with zipfile.ZipFile(affine) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = members.pop("manifest.json")
    so = len(members["native.so"])
    for other in (
        {"native.so": members["native.so"]},
        {**members, "extra": b"1"},
        {name: members[name] for name in reversed(members)},
        {**members, "native.so": members["native.so"] + bytes(-so % 64)},
        {"other.so" if name == "native.so" else name: content for name, content in members.items()},
    ):
        affine.write_bytes(packed(manifest, other))
        message = refused(affine)
        assert (
            "is truncated or damaged: expected" in message
            or "does not match manifest.json" in message
        )
    changed = bytes([*members["native.so"][:-1], members["native.so"][-1] ^ 1])
    affine.write_bytes(packed(manifest, {**members, "native.so": changed}))
    assert (
        "the header of native.so does not match manifest.json: the file is damaged, or "
        "another program repacked it"
    ) in refused(affine)


@pytest.mark.parametrize(
    "name", ["../up", "/etc/x", "a//b", "a/./b", "f\u00fcr", "a\nb", "manifest.json", "", "x" * 300]
)
def test_invalid_member_names(affine: Path, name: str) -> None:
    tree = json.loads(open_artifact(affine).manifest.to_json())
    tree["files"][name] = tree["files"]["native.so"]
    with pytest.raises(
        ArtifactError, match="files: expected names of members, e.g. plans/x.json, got "
    ):
        read_manifest(json.dumps(tree))


def test_malformed_manifest(affine: Path) -> None:
    members = {name: bytes(content) for name, content in open_artifact(affine).members.items()}
    for text, message in (
        (
            b'{"format": "convoy", "format": "convoy"}',
            "duplicate name 'format' in an object",
        ),
        (b'{"format": "\\ud800"}', "surrogates not allowed"),
        ('{"format": "convoy"}'.encode("utf-16"), "is not JSON: 'utf-8' codec can't decode"),
        (b"[" * 100000, "is not JSON: "),
        (b"", "is not JSON: "),
    ):
        affine.write_bytes(packed(text, members))
        assert message in refused(affine)
    head = bytearray(affine.read_bytes())
    head[22:26] = (1 << 30).to_bytes(4, "little")
    affine.write_bytes(head)
    assert (
        "manifest.json: is too large: expected at most 67108864 bytes, got 1073741824 bytes"
        in refused(affine)
    )


def test_newer_version_is_refused(affine: Path) -> None:
    rewrite(affine, lambda tree, _: tree.update(format_version=FORMAT_VERSION + 1, new=1))
    assert (
        "manifest.json: format_version: this runtime reads format version "
        f"{FORMAT_VERSION}, the artifact is newer"
    ) in refused(affine)


def test_other_machine_is_refused(tmp_path: Path, affine_so: bytes) -> None:
    path = tmp_path / "a"
    write_artifact(
        path,
        affine_manifest(host=Host("aarch64-unknown-linux-gnu", "generic", ())),
        {"native.so": affine_so},
    )
    assert (
        "host.triple: the artifact was compiled for another machine: expected "
        "aarch64-unknown-linux-gnu, got x86_64 Linux"
    ) in refused(path)
    write_artifact(
        path,
        affine_manifest(host=Host("x86_64-unknown-linux-gnu", "later", ("sse2", "avx9000"))),
        {"native.so": affine_so},
    )
    assert (
        "host.features: the artifact was compiled for another machine: expected a CPU "
        "like later with avx9000, got one without"
    ) in refused(path)
    assert open_artifact(path, any_host=True).manifest.host.cpu == "later"


def test_feature_names_of_llvm(tmp_path: Path) -> None:
    shown = (
        "fpu sse2 pni ssse3 sse4_1 sse4_2 abm bmi1 bmi2 avx2 fma f16c movbe popcnt cx16 "
        "lahf_lm pclmulqdq amx_bf16 avx512_vbmi2"
    )
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor: 0\nflags\t\t: {shown}\n\nprocessor: 1\nflags\t\t: fpu\n")
    names = (
        "sse3 ssse3 sse4.1 sse4.2 crc32 lzcnt bmi bmi2 avx2 fma f16c movbe popcnt cx16 sahf pclmul"
    )
    # Other punctuation, and two features that Linux does not list.
    features = tuple(f"{names} amx-bf16 avx512vbmi2 avx10.1 prefetchi".split())
    host = Host("x86_64-unknown-linux-gnu", "x86-64-v3", features)
    check_host(host, cpuinfo=cpuinfo)
    cpuinfo.write_text(cpuinfo.read_text().replace("abm ", "").replace("fma ", ""))
    with pytest.raises(
        ArtifactError, match="expected a CPU like x86-64-v3 with lzcnt, fma, got one without$"
    ):
        check_host(host, cpuinfo=cpuinfo)
    with pytest.raises(
        ArtifactError, match=r"cannot read this machine's CPU features: .*No such file"
    ):
        check_host(host, cpuinfo=tmp_path / "none")


def test_weights_must_match_the_manifest(tmp_path: Path, affine_so: bytes) -> None:
    with pytest.raises(ValueError, match="do not match the manifest: b: expected"):
        write_artifact(
            tmp_path / "a", affine_manifest(), {"native.so": affine_so}, {"ws": PREPARED["ws"]}
        )

    def written(prepared: tuple[TensorSpec, ...]) -> str:
        path = tmp_path / "a"
        write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)

        rewrite(path, lambda tree, _: tree.update(prepared=[asdict(spec) for spec in prepared]))
        with pytest.raises(ArtifactError) as caught:
            open_artifact(path).weights()
        return str(caught.value)

    ws, b = affine_manifest().prepared
    assert "weights.safetensors: b: is in the file but not in the manifest" in written((ws,))
    assert "weights.safetensors: z: is in the manifest but not in the file" in written(
        (ws, b, TensorSpec("z", (1,), "float32"))
    )
    assert "b: differs from the manifest: expected float16[3], got float32[3]" in written(
        (ws, TensorSpec("b", (3,), "float16"))
    )


def test_unwritable_path(
    tmp_path: Path, affine: Path, affine_so: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ArtifactWriteError, match="no/such/x: cannot be written: expected a folder that exists"
    ):
        write_artifact(tmp_path / "no/such/x", affine_manifest(), {"native.so": affine_so})
    with pytest.raises(
        ArtifactWriteError, match="cannot be written: expected a regular file, got a directory"
    ):
        write_artifact(tmp_path, affine_manifest(), {"native.so": affine_so})
    before = affine.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        ArtifactWriteError,
        match=r"affine\.convoy: cannot write the artifact: No space left on device",
    ):
        write_artifact(affine, affine_manifest(), {"native.so": affine_so})
    assert affine.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["affine.convoy"]


def test_large_members_have_zip64_fields(
    tmp_path: Path, affine_so: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the 32-bit and 16-bit limits, which are lowered here. Other programs can read the file
    as well."""
    monkeypatch.setattr(_zip, "_LIMIT", 4000)
    monkeypatch.setattr(_zip, "_MOST_MEMBERS", 2)
    path = tmp_path / "large"
    write_artifact(path, affine_manifest(), {"native.so": affine_so}, PREPARED)
    members = open_artifact(path).members
    assert bytes(members["native.so"]) == affine_so
    assert all(
        np.frombuffer(content, np.uint8).ctypes.data % 64 == 0 for content in members.values()
    )
    assert path.read_bytes().count(b"PK\x06\x06") == path.read_bytes().count(b"PK\x06\x07") == 1
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("native.so") == affine_so
