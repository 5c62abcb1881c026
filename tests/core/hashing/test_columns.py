"""Whole columns hash as the scalar functions do: every kind of Arrow column, slices, chunks, odd bytes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.columns import (
    java_column,
    key_buffers,
    murmur2_column,
    murmur3_column,
    phash2_column,
)
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.hashing.murmur2 import murmur2
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.hashing.phash2 import phash2

ROOT = Path(__file__).parents[3]
SCALARS = {
    murmur3_column: murmur3_32,
    murmur2_column: murmur2,
    phash2_column: phash2,
    java_column: lambda key: string_hash_unsigned(java_text(key)),
}
HASHES = [pytest.param(column, scalar, id=column.__name__) for column, scalar in SCALARS.items()]
# Bytes at the borders of UTF-8's classes, so that most of what is drawn is broken in some way.
ODD_BYTES = st.lists(
    st.sampled_from(bytes.fromhex("0041 7f80 8f90 9fa0 bfc0 c1c2 dfe0 e1ed eef0 f1f4 f5ff")), max_size=12
).map(bytes)
KEYS = st.lists(
    st.none() | st.binary(max_size=40) | st.text(max_size=12).map(str.encode) | ODD_BYTES, max_size=30
)


def expected(scalar, keys):
    return [0 if key is None else scalar(key) for key in keys]


@pytest.mark.parametrize(("column", "scalar"), HASHES)
@settings(deadline=None)  # the first call compiles
@given(keys=KEYS)
def test_a_column_hashes_as_its_keys_do(column, scalar, keys):
    assert column(pa.array(keys, pa.binary())).tolist() == expected(scalar, keys)


@pytest.mark.parametrize(("column", "scalar"), HASHES)
@settings(deadline=None)  # the first call compiles
@given(texts=st.lists(st.none() | st.text(max_size=20), max_size=20))
def test_text_is_hashed_as_its_utf8(column, scalar, texts):
    keys = [None if text is None else text.encode() for text in texts]
    for kind in (pa.string(), pa.large_string()):
        assert column(pa.array(texts, kind)).tolist() == expected(scalar, keys)


@pytest.mark.parametrize(("column", "scalar"), HASHES)
@settings(deadline=None)  # the first call compiles
@given(keys=KEYS, cut=st.tuples(st.integers(0, 30), st.integers(0, 30)), size=st.integers(1, 7))
def test_slices_and_chunks_hash_as_the_whole(column, scalar, keys, cut, size):
    start, stop = min(cut), max(cut)
    for kind in (pa.binary(), pa.large_binary()):
        whole = pa.array(keys, kind)
        assert column(whole[start:stop]).tolist() == expected(scalar, keys[start:stop])
        chunks = pa.chunked_array([whole[at : at + size] for at in range(0, len(keys), size)], kind)
        assert column(chunks).tolist() == expected(scalar, keys)


@pytest.mark.parametrize(("column", "scalar"), HASHES)
def test_dictionaries_and_fixed_sizes_hash_by_value(column, scalar):
    keys = [b"abcd", None, b"\xff\x00\xed\xa0", b"abcd"]
    assert column(pa.array(keys).dictionary_encode()).tolist() == expected(scalar, keys)
    assert column(pa.array(keys, pa.binary(4))).tolist() == expected(scalar, keys)
    assert column(pa.array([None, None], pa.dictionary(pa.int32(), pa.binary()))).tolist() == [0, 0]


@pytest.mark.parametrize(("column", "scalar"), HASHES)
def test_missing_is_what_the_caller_says_and_empty_is_a_key(column, scalar):
    assert column(pa.array([None, b"", b"k"], pa.binary()), missing=7).tolist() == [
        7,
        scalar(b""),
        scalar(b"k"),
    ]
    assert column(pa.nulls(2), missing=7).tolist() == [7, 7]
    assert (
        column(pa.array([], pa.binary())).tolist() == column(pa.chunked_array([], pa.binary())).tolist() == []
    )


@pytest.mark.parametrize(("column", "scalar"), HASHES)
def test_a_key_of_a_megabyte_is_hashed_whole(column, scalar):
    big = (bytes(range(256)) * 4096)[1:]
    assert column(pa.array([b"x", big, b"y"])).tolist() == [scalar(b"x"), scalar(big), scalar(b"y")]


def test_signs_are_the_originals():
    assert murmur3_column(pa.array(["Order-3459134"])).dtype == np.uint32
    assert murmur2_column(pa.array([b"21"])).tolist() == [-973932308]
    assert java_column(pa.array(["polygenelubricants"])).tolist() == [1 << 31]


# What `new String(bytes, UTF_8).hashCode()` printed on JDK 17, as unsigned: encoded surrogates whole and cut,
# over-long, beyond the last plane.
JAVA_17 = {
    "eda080": 0xFFFD,
    "eda0": 0xFFFD,
    "eda041": 0xFFFD * 31 + 0x41,
    "edbfbfeda080": 0xFFFD * 31 + 0xFFFD,
    "c080": 0xFFFD * 31 + 0xFFFD,
    "f48fbfbf": 0xDBFF * 31 + 0xDFFF,
    "f4908080": (((0xFFFD * 31 + 0xFFFD) * 31 + 0xFFFD) * 31 + 0xFFFD) & 0xFFFFFFFF,
    "e4b8": 0xFFFD,
}


@pytest.mark.parametrize(("key", "hashed"), JAVA_17.items())
def test_odd_bytes_are_decoded_as_java_does(key, hashed):
    assert java_column(pa.array([bytes.fromhex(key)])).tolist() == [hashed]
    assert string_hash_unsigned(java_text(bytes.fromhex(key))) == hashed


def test_a_column_of_numbers_is_refused():
    with pytest.raises(CommandError, match="must be text or bytes, not int64"):
        murmur3_column(pa.array([1, 2]))


def test_buffers_are_not_copied():
    keys = pa.array([b"abc", b"de"])
    data, offsets = key_buffers(keys[1:])
    assert offsets.tolist() == [3, 5]
    assert data.ctypes.data == keys.buffers()[2].address


def test_hashes_where_nothing_compiled_can_be_kept(tmp_path):
    """No folder takes numba's cache: a home that is a file, a source folder that is an archive."""
    import zipfile

    archive = tmp_path / "core.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in [
            ROOT / "broker_core/__init__.py",
            ROOT / "broker_core/errors.py",
            *(ROOT / "broker_core/hashing").glob("*.py"),
        ]:
            out.write(file, file.relative_to(ROOT))
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("a file, so no folder can be made in it")
    code = (
        "import pyarrow as pa; from broker_core.hashing import columns as c; "
        "print(c.murmur2_column(pa.array([b'21'])).tolist(), c.__file__)"
    )
    places = {
        "HOME": str(nowhere),
        "XDG_CACHE_HOME": str(nowhere),
        "TMPDIR": str(nowhere),
        "PYTHONPATH": str(archive),
    }
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **places},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("[-973932308]") and str(archive) in run.stdout
