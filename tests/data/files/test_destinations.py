"""A file that is read, or written as something else, is not written."""

from __future__ import annotations

import pytest

from fastcrf.data.files.destinations import DestinationError, check_apart


def test_the_same_file_by_another_name_raises_an_error_and_another_file_does_not(tmp_path):
    data, link, model = tmp_path / "data", tmp_path / "link", tmp_path / "model"
    data.touch()
    link.symlink_to(data)
    check_apart({"the data": data}, {"the model": model, "the trace": tmp_path / "trace", "the output": "-"})
    for path in (data, tmp_path / "." / "data", link):
        with pytest.raises(DestinationError, match="is the data and cannot be the model as well"):
            check_apart({"the data": data}, {"the model": path})
    with pytest.raises(DestinationError, match="is the model and cannot be the trace as well"):
        check_apart({"the data": data}, {"the model": model, "the trace": model})


def test_two_names_of_one_file_on_the_disk_are_the_same(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.touch()
    other.hardlink_to(one)
    with pytest.raises(DestinationError):
        check_apart({"the data": one}, {"the model": other})
