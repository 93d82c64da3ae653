"""The container: what is written is read back, nothing is ever half written, and damage is noticed."""

from __future__ import annotations

import json
import os
import pickle
import stat

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fastcrf.data.model_file import container, rescue
from fastcrf.data.model_file.container import from_bytes, read, to_bytes, write
from fastcrf.exceptions import ModelFileError

ARRAYS = {"weights": np.array([1.5, -2.0]), "offsets": np.array([0, 2]), "empty": np.zeros(0, np.int32)}
HEADER = {"labels": ["a", 1, True, 2.5], "options": {"c2": 1.0}, "note": "ü\ud800"}
CONTENT = to_bytes(ARRAYS, HEADER)

some_array = st.sampled_from([np.float64, np.int64, np.int32, np.uint8]).flatmap(
    lambda dtype: arrays(dtype, st.integers(0, 5))
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
names = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda name: name != "__metadata__")


@given(st.dictionaries(names, some_array, max_size=4), st.dictionaries(st.text(), json_values, max_size=4))
def test_arrays_and_header_survive(arrays, header):
    arrays_again, header_again = from_bytes(to_bytes(arrays, header))
    assert header_again == header
    assert arrays_again.keys() == arrays.keys()
    for name, array in arrays_again.items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])
        assert array.flags.writeable  # kernels are compiled for writable arrays
        assert array.flags.aligned


def test_the_same_content_gives_the_same_bytes():
    assert {to_bytes(ARRAYS, HEADER) for _ in range(10)} == {CONTENT}


def test_numpy_numbers_in_the_header_become_plain_numbers():
    _, header = from_bytes(to_bytes({}, {"a": np.float64(0.5), "b": [np.int64(3)], "c": np.bool_(True)}))
    assert header == {"a": 0.5, "b": [3], "c": True}
    assert type(header["b"][0]) is int


def test_what_json_cannot_hold_raises_an_error_at_save():
    with pytest.raises(
        ModelFileError, match=r"^<object object at .*> in the model's options cannot be saved; use numbers"
    ):
        to_bytes({}, {"options": {"solver": object()}})


def test_the_file_is_plain_safetensors_that_names_its_format(tmp_path):
    path = tmp_path / "model"
    write(path, CONTENT)
    np.testing.assert_array_equal(safetensors.numpy.load_file(path)["weights"], ARRAYS["weights"])
    with safetensors.safe_open(path, "np") as file:
        metadata = file.metadata()
    assert (metadata["format"], metadata["version"]) == ("fastcrf-model", "1")
    assert metadata["library"]


@given(st.data())
def test_any_change_of_a_byte_is_noticed_or_changes_nothing(data):
    place = data.draw(st.integers(0, len(CONTENT) - 1))
    byte = data.draw(st.integers(0, 255))
    changed = CONTENT[:place] + bytes([byte]) + CONTENT[place + 1 :]
    try:
        arrays, header = from_bytes(changed)
    except ModelFileError:
        return
    assert header == HEADER
    assert {name: array.tolist() for name, array in arrays.items()} == {
        name: array.tolist() for name, array in ARRAYS.items()
    }


@given(st.integers(0, len(CONTENT) - 1))
def test_any_missing_end_is_noticed(size):
    with pytest.raises(ModelFileError):
        from_bytes(CONTENT[:size])


@given(st.binary(max_size=200))
def test_bytes_that_are_no_model_raise_an_error(data):
    with pytest.raises(ModelFileError):
        from_bytes(data)
    with pytest.raises(ModelFileError):
        from_bytes(len(data).to_bytes(8, "little") + data)
    with pytest.raises(ModelFileError):
        from_bytes(CONTENT + data + b"!")


def forged(metadata, tensors=None):
    """A safetensors file with this metadata, whose checksum is right if it can be."""
    metadata = {"format": "fastcrf-model", "version": "1", "library": "9.9", "header": "{}"} | metadata
    metadata.setdefault("sha256", container.checksum(tensors or {}, metadata["header"]))
    return safetensors.numpy.save(tensors or {}, metadata)


def with_header(text):
    """A file whose safetensors header is this text."""
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "this is not a fastcrf model, or it is truncated"),
        (pickle.dumps({"a": 1}), "this is not a fastcrf model, or it is truncated"),
        (b"lCRF" + bytes(60), "this is not a fastcrf model, or it is truncated"),
        ((2**62).to_bytes(8, "little") + b"{}", "this is not a fastcrf model, or it is truncated"),
        (with_header(b"[" * 100_000), "this is not a fastcrf model, or it is truncated"),
        (with_header(b"{}"), "this is a safetensors file, but not a fastcrf model"),
        (safetensors.numpy.save(ARRAYS), "this is a safetensors file, but not a fastcrf model"),
        (forged({"format": "other"}), "this is a safetensors file, but not a fastcrf model"),
        (
            forged({"version": "3"}),
            r"this model is in format '3' of fastcrf '9\.9', and this is fastcrf .*; use the version",
        ),
        (forged({"header": "[1"}), "the header of the model is not JSON"),
        (forged({"header": "[" * 100_000}), "the header of the model is not JSON"),
        (forged({"header": "9" * 10_000}), "the header of the model is not JSON"),
        (forged({"header": "[1]"}), "the header of the model is not a JSON object"),
        (forged({"sha256": "0"}), "the file is damaged: its content does not match its checksum"),
        (forged({}, {"a": np.zeros(2, np.float32)}), r"array 'a' is F32 of shape \[2\], which no model uses"),
        (forged({}, {"a": np.zeros((2, 2))}), r"array 'a' is F64 of shape \[2, 2\], which no model uses"),
        (forged({}, {"a": np.zeros(())}), r"array 'a' is F64 of shape \[\], which no model uses"),
    ],
)
def test_foreign_newer_and_hostile_files_get_one_sentence(data, message):
    with pytest.raises(ModelFileError, match=f"^{message}"):
        from_bytes(data)


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path, monkeypatch):
    path = tmp_path / "model"
    monkeypatch.setattr(rescue, "folders", lambda: iter([]))
    write(path, CONTENT)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="disk full") as caught:
                write(path, to_bytes({}, {}))
        assert caught.value.filename == str(path)
        assert from_bytes(read(path))[1] == HEADER
        assert os.listdir(tmp_path) == ["model"]


def fail(*arguments):
    raise OSError(28, "disk full")


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "model"
    write(path, CONTENT)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, to_bytes({}, {}))
    assert from_bytes(read(path))[1] == HEADER
    assert os.listdir(tmp_path) == ["model"]


def test_links_and_permissions_are_kept(tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    write(path, to_bytes({}, {}))
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~current_umask()
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, CONTENT)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert from_bytes(read(path))[1] == HEADER


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_path_that_cannot_hold_a_file_raises_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(rescue, "folders", lambda: iter([]))
    with pytest.raises(ModelFileError, match=r"which is not a file; choose another path$"):
        write(tmp_path, to_bytes({}, {}))
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "no" / "model", to_bytes({}, {}))
    assert caught.value.filename == str(tmp_path / "no" / "model")


def test_the_metadata_is_json_that_other_tools_can_read():
    size = int.from_bytes(CONTENT[:8], "little")
    metadata = json.loads(CONTENT[8 : 8 + size])["__metadata__"]
    assert json.loads(metadata["header"]) == HEADER
