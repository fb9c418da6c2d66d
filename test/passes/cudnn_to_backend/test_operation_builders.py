"""The calls of builders whose operations have several results, lists of tensors, absent tensors or
numeric attributes.

Numbers are copied by hand from cudnn_graph.h, so that an error in the compiler's list of
descriptors is detected.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pytest
from operation_graphs import GRAPHS

FLAGS = (
    "--add-runtime-argument",
    "--convert-cudnn-execute-to-backend",
    "--convert-cudnn-graphs-to-backend=minimum-version=91900",
)

DATA_TYPE, BOOLEAN, INT64, FLOAT, DOUBLE, DESCRIPTOR, INT32 = 1, 2, 3, 4, 5, 15, 23
GENSTATS_MODE, BN_FINALIZE_MODE, NORM_MODE, NORM_PHASE, RNG_DISTRIBUTION, MOE_MODE = (
    16,
    17,
    27,
    28,
    29,
    30,
)
GEN_STATS, TENSOR, BN_FINALIZE, BN_BWD_WEIGHTS, CONCAT, NORM_FORWARD, NORM_BACKWARD, RESHAPE = (
    14,
    17,
    20,
    23,
    27,
    29,
    30,
    31,
)
RNG, OP_RNG, PAGED, EXPAND, CONTRACT, SDPA, MOE = 32, 33, 35, 39, 40, 41, 42
SIGNAL, QUANTIZE, DEQUANTIZE, SIGNAL_MODE = 28, 36, 37, 25


@pytest.fixture(scope="module")
def library(build_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    """Every graph in one library."""
    return build_library("".join(GRAPHS.values()), *FLAGS)


@pytest.fixture
def built(library: ctypes.CDLL, recorder: type) -> Callable[[str], Any]:
    """The record of a graph's builder."""

    def build(name: str) -> Any:
        record = recorder()
        assert record.build(library, f"{name}_build") == 0
        assert record.errors == []
        return record

    return build


def _uid(record: Any, tensor: int) -> int:
    return int(struct.unpack("<q", record.sets_of(tensor)[906][2])[0])


def _operation(record: Any, kind: int) -> dict[int, Any]:
    """An operation's attributes: uids for tensors, numbers for others."""
    (number,) = record.kind(kind)
    found: dict[int, Any] = {}
    for attribute, (what, count, elements) in record.sets_of(number).items():
        if what == DESCRIPTOR:
            uids = [
                _uid(record, each)
                if record.kinds[each] == TENSOR
                else ("descriptor", record.kinds[each])
                for each in elements
            ]
            found[attribute] = uids[0] if count == 1 else uids
        else:
            code = {INT64: "q", DOUBLE: "d", FLOAT: "f"}.get(what, "i")
            found[attribute] = (what, *struct.unpack(f"<{count}{code}", elements))
    return found


def _by_uid(record: Any) -> dict[int, dict[int, Any]]:
    return {_uid(record, each): record.sets_of(each) for each in record.kind(TENSOR)}


def test_batch_norm_training(built: Callable[[str], Any]) -> None:
    record = built("batch_norm_training")
    # Arguments 1 to 5, results 6 to 10, then the two constants; no tensor is virtual.
    tensors = _by_uid(record)
    assert sorted(tensors) == list(range(1, 13))
    assert all(sets[907] == (BOOLEAN, 1, b"\0") for sets in tensors.values())
    assert [uid for uid, sets in sorted(tensors.items()) if 908 in sets] == [11, 12]
    assert tensors[11][908] == (BOOLEAN, 1, b"\1")
    assert tensors[11][902] == (INT64, 4, struct.pack("<4q", 1, 1, 1, 1))
    assert _operation(record, NORM_FORWARD) == {
        2000: (NORM_MODE, 2), 2001: (NORM_PHASE, 1), 2002: 1, 2003: 7, 2004: 8, 2005: 2, 2006: 3,
        2007: 11, 2008: 12, 2009: 4, 2010: 5,
        2011: 9, 2012: 10, 2013: 6,
    }  # fmt: skip


def test_batch_norm_inference_has_statistics_operands(built: Callable[[str], Any]) -> None:
    expected = {
        2000: (NORM_MODE, 2),
        2001: (NORM_PHASE, 0),
        2002: 1,
        2003: 2,
        2004: 3,
        2005: 4,
        2006: 5,
        2013: 6,
    }
    assert _operation(built("batch_norm_inference"), NORM_FORWARD) == expected


def test_peer_stats_are_a_list(built: Callable[[str], Any]) -> None:
    assert _operation(built("batch_norm_peers"), NORM_FORWARD)[2014] == [6, 7]


def test_rms_norm_has_no_mean(built: Callable[[str], Any]) -> None:
    expected = {
        2000: (NORM_MODE, 4),
        2001: (NORM_PHASE, 1),
        2002: 1,
        2004: 4,
        2005: 2,
        2007: 5,
        2013: 3,
    }
    assert _operation(built("rms_norm_training"), NORM_FORWARD) == expected
    expected = {2100: (NORM_MODE, 4), 2101: 2, 2103: 3, 2104: 1, 2105: 4, 2107: 6, 2109: 5}
    assert _operation(built("rms_norm_backward"), NORM_BACKWARD) == expected


def test_layer_norm_of_a_matrix(built: Callable[[str], Any]) -> None:
    record = built("layer_norm_rank_two")
    tensors = _by_uid(record)
    assert tensors[1][902] == (INT64, 3, struct.pack("<3q", 1, 512, 1024))
    assert tensors[2][902] == (INT64, 3, struct.pack("<3q", 1, 1, 1024))
    assert _operation(record, NORM_FORWARD) == {
        2000: (NORM_MODE, 0),
        2001: (NORM_PHASE, 0),
        2002: 1,
        2005: 2,
        2013: 3,
    }


def test_norm_backward(built: Callable[[str], Any]) -> None:
    expected = {
        2100: (NORM_MODE, 2),
        2101: 2,
        2102: 3,
        2103: 4,
        2104: 1,
        2105: 5,
        2106: 10,
        2107: 8,
        2108: 9,
        2109: 7,
        2110: 6,
    }
    assert _operation(built("batch_norm_backward_peers"), NORM_BACKWARD) == expected


def test_statistics(built: Callable[[str], Any]) -> None:
    assert _operation(built("gen_stats"), GEN_STATS) == {
        770: (GENSTATS_MODE, 0),
        771: (DATA_TYPE, 0),
        772: 1,
        773: 2,
        774: 3,
    }
    record = built("bn_finalize_training")
    assert _operation(record, BN_FINALIZE) == {
        780: (BN_FINALIZE_MODE, 0), 781: (DATA_TYPE, 0), 782: 1, 783: 2, 784: 3, 785: 4, 786: 5,
        787: 6, 788: 11, 789: 12, 790: 9, 791: 10,
        792: 7, 793: 8, 794: 15, 795: 13, 796: 14,
    }  # fmt: skip
    assert _by_uid(record)[15][901] == (DATA_TYPE, 1, struct.pack("<i", 10))
    expected = {
        780: (BN_FINALIZE_MODE, 1),
        781: (DATA_TYPE, 0),
        784: 1,
        785: 2,
        786: 3,
        787: 4,
        792: 5,
        793: 6,
        795: 7,
    }
    assert _operation(built("bn_finalize_inference"), BN_FINALIZE) == expected
    expected = {
        1620: (DATA_TYPE, 0),
        1621: 3,
        1622: 4,
        1623: 5,
        1624: 1,
        1625: 2,
        1626: 6,
        1627: 7,
        1628: 8,
        1629: 9,
        1630: 10,
    }
    assert _operation(built("bn_bwd_weights"), BN_BWD_WEIGHTS) == expected


def test_data(built: Callable[[str], Any]) -> None:
    assert _operation(built("concat"), CONCAT) == {1800: (INT64, 1), 1801: [1, 2], 1803: 3}
    assert _operation(built("concat_in_place"), CONCAT) == {
        1800: (INT64, 1),
        1801: [1, 2],
        1802: (INT64, 1),
        1803: 3,
    }
    # A matrix gets a leading dim, and the axis is shifted.
    assert _operation(built("concat_rank_two"), CONCAT)[1800] == (INT64, 2)
    assert _operation(built("reshape"), RESHAPE) == {2200: 1, 2201: 2}


def test_random_numbers(built: Callable[[str], Any]) -> None:
    record = built("rng_bernoulli")
    assert _operation(record, RNG) == {2300: (RNG_DISTRIBUTION, 0), 2305: (DOUBLE, 0.9)}
    assert _operation(record, OP_RNG) == {2310: 1, 2311: (INT64, 42), 2312: ("descriptor", RNG)}
    record = built("rng_uniform")
    assert _operation(record, RNG) == {
        2300: (RNG_DISTRIBUTION, 1),
        2303: (DOUBLE, 1.0),
        2304: (DOUBLE, -1.0),
    }
    assert _operation(record, OP_RNG) == {2310: 3, 2311: 1, 2312: ("descriptor", RNG), 2313: 2}
    record = built("rng_normal")
    assert _operation(record, RNG) == {
        2300: (RNG_DISTRIBUTION, 2),
        2301: (DOUBLE, 0.5),
        2302: (DOUBLE, 2.0),
    }
    assert _operation(record, OP_RNG) == {
        2310: 2,
        2311: (INT64, 7),
        2312: ("descriptor", RNG),
        2313: 1,
    }


def test_attention(built: Callable[[str], Any]) -> None:
    assert _operation(built("sdpa_64"), SDPA) == {2800: 1, 2801: 2, 2802: 3, 2803: 4, 2805: 5}
    assert _operation(built("sdpa_grouped_stats"), SDPA) == {
        2800: 1,
        2801: 2,
        2802: 3,
        2803: 4,
        2804: 5,
    }
    assert _operation(built("sdpa_paged"), SDPA) == {
        2800: 1,
        2801: 2,
        2802: 3,
        2803: 8,
        2807: 4,
        2808: 5,
        2809: 6,
        2810: 7,
    }
    assert _operation(built("sdpa_block_mask"), SDPA)[2806] == 4
    assert _operation(built("paged_cache_load"), PAGED) == {1950: 1, 1951: 4, 1952: 3, 1953: 2}


def test_structured(built: Callable[[str], Any]) -> None:
    assert _operation(built("moe"), MOE) == {
        2900: (MOE_MODE, 0),
        2901: (DATA_TYPE, 0),
        2902: 1,
        2903: 2,
        2904: 3,
        2905: 4,
    }
    expected = {
        2900: (MOE_MODE, 2),
        2901: (DATA_TYPE, 0),
        2902: 1,
        2903: 2,
        2904: 3,
        2905: 6,
        2906: 4,
        2907: 5,
        2908: (INT32, 2),
    }
    assert _operation(built("moe_scatter"), MOE) == expected
    expected = {
        2250: 1,
        2251: 4,
        2252: (INT64, 4),
        2253: (INT64, 0),
        2254: (INT64, 3),
        2255: (FLOAT, -1.0),
        2256: 2,
        2257: 3,
    }
    assert _operation(built("expand_band"), EXPAND) == expected
    expected = {
        2270: 1,
        2271: 2,
        2272: (INT64, 1),
        2273: (INT64, 3),
        2274: (INT64, 3),
        2275: (FLOAT, 0.0),
        2276: (INT64, 4),
    }
    assert _operation(built("contract_band"), CONTRACT) == expected


def test_unused_result_is_virtual(
    build_library: Callable[..., ctypes.CDLL], recorder: type
) -> None:
    text = """
!x = !cudnn.tensor_desc<4x128x1024xf16>
cudnn.graph @g(%x: !x) -> !x {
  %epsilon = cudnn.constant 1.0e-05 : f32 -> !cudnn.tensor_desc<1x1x1xf32>
  %y, %inv_variance = cudnn.norm_forward rms_norm training x(%x : !x) epsilon(%epsilon : !cudnn.tensor_desc<1x1x1xf32>)
      -> y(!x) saved_inv_variance(!cudnn.tensor_desc<4x128x1xf32>)
  cudnn.return %y : !x
}"""
    record = recorder()
    assert record.build(build_library(text, *FLAGS), "g_build") == 0
    virtual = {uid: sets[907][2] for uid, sets in _by_uid(record).items()}
    assert virtual == {1: b"\0", 2: b"\0", 3: b"\0", 4: b"\1"}


def test_block_scales(built: Callable[[str], Any]) -> None:
    assert _operation(built("block_scale_quantize"), QUANTIZE) == {
        2500: 1,
        2501: 2,
        2502: 3,
        2503: (DATA_TYPE, 0),
        2504: (INT32, 32),
    }
    expected = {2600: 1, 2601: 2, 2602: 3, 2603: (DATA_TYPE, 0), 2604: (INT32, 32)}
    assert _operation(built("block_scale_dequantize"), DEQUANTIZE) == expected
    record = built("block_scale_dequantize_tiles")
    (operation,) = record.kind(DEQUANTIZE)
    sets = record.sets_of(operation)
    assert (sets[2604], sets[2605]) == (
        (INT32, 2, struct.pack("<2i", 128, 128)),
        (BOOLEAN, 1, b"\1"),
    )


def test_signals(built: Callable[[str], Any]) -> None:
    record = built("signals")
    wait, done = (record.sets_of(each) for each in record.kind(SIGNAL))
    assert (wait[1900], wait[1902]) == (
        (SIGNAL_MODE, 1, struct.pack("<i", 1)),
        (INT64, 1, struct.pack("<q", 1)),
    )
    assert (done[1900], done[1902]) == (
        (SIGNAL_MODE, 1, struct.pack("<i", 0)),
        (INT64, 1, struct.pack("<q", 2)),
    )
    places = [
        [_uid(record, sets[number][2][0]) for number in (1901, 1903, 1904)] for sets in (wait, done)
    ]
    # The first passes on the compute value, the second the result.
    assert places == [[2, 1, 5], [3, 6, 4]]
