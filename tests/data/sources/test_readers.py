"""Readers of tables, JSON lines and data sets: files that the real libraries write, and bad input for each."""

from __future__ import annotations

import gzip
import json
import sys

import pytest

from fastcrf import CRF, features, readers
from fastcrf.exceptions import DataError

TOKENS = [["31", "Elm", "St"], ["Paris"]]
LABELS = [["Number", "Street", "Street"], ["City"]]
ROWS = [[[token] for token in tokens] for tokens in TOKENS]
FLAT = {
    "sentence": [7, 7, 7, 8],
    "token": [token for tokens in TOKENS for token in tokens],
    "shape": ["dd", "Xx", "Xx", "Xx"],
    "label": [label for labels in LABELS for label in labels],
}
NESTED = {"tokens": TOKENS, "labels": LABELS, "pos": [["CD", "NN", "NN"], ["NN"]]}


def write_lines(path, objects):
    path.write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    return path


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_token_per_row_or_a_sequence_per_row(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    assert readers.frame(make(FLAT)).load() == (ROWS, LABELS)
    X, y = readers.frame(make(FLAT), ["token", "shape"]).load()
    assert (X[0][0], y) == (["31", "dd"], LABELS)
    assert readers.frame(make(NESTED), "tokens", "labels", sequence=None).load() == (ROWS, LABELS)
    assert readers.frame(make(FLAT), labels=None).load() == (ROWS, [[], []])
    with pytest.raises(DataError, match=r"no column 'tag'; its columns are 'sentence', 'token'"):
        readers.frame(make(FLAT), labels="tag")


def test_any_table_with_columns_is_a_frame():
    class Table(dict):
        columns = property(lambda self: list(self))

    assert readers.frame(Table(FLAT)).load() == (ROWS, LABELS)
    with pytest.raises(DataError, match=r"row 2: the sequence 7 has earlier rows"):
        readers.frame(Table({**FLAT, "sentence": [7, 8, 7, 8]})).load()
    with pytest.raises(DataError, match=r"row 3: 'sentence' is None"):
        readers.frame(Table({**FLAT, "sentence": [7, 7, 7, None]})).load()
    with pytest.raises(DataError, match=r"row 3, 'token', position 0: 5 is no string"):
        readers.frame(Table({**FLAT, "token": ["a", "b", "c", 5]})).load()
    with pytest.raises(DataError, match=r"row 3, 'label', position 0: nan is no label"):
        readers.frame(Table({**FLAT, "label": ["a", "b", "c", float("nan")]})).load()
    with pytest.raises(DataError, match="The table has no column 'token'; its columns are none"):
        readers.frame(5)


def test_parquet_is_read_in_pieces_and_its_faults_are_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.table(NESTED), path, row_group_size=1)
    assert readers.parquet(path).load() == (ROWS, LABELS)
    assert readers.parquet(path, ["tokens", "pos"]).load()[0][0][0] == ["31", "CD"]
    with pytest.raises(DataError, match=r"data\.parquet has no column 'tag'; its columns are 'tokens'"):
        readers.parquet(path, labels="tag").load()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"data\.parquet, row 0: this is no Parquet file, or it is damaged"):
        readers.parquet(path).load()
    with pytest.raises(DataError, match=r"absent\.parquet, row 0"):
        readers.parquet(tmp_path / "absent.parquet").load()


def test_a_data_set_of_hugging_face_gets_the_names_of_its_classes(tmp_path):
    datasets = pytest.importorskip("datasets")
    pyarrow = pytest.importorskip("pyarrow")
    names = ["Number", "Street", "City"]
    numbers = [[names.index(label) for label in labels] for labels in LABELS]
    classes = datasets.Features(
        {
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=names)),
        }
    )
    made = datasets.Dataset.from_dict({"tokens": TOKENS, "ner_tags": numbers}, features=classes)
    made.save_to_disk(tmp_path / "saved")
    assert readers.dataset(datasets.load_from_disk(tmp_path / "saved")).load() == (ROWS, LABELS)
    with pytest.raises(DataError, match=r"no column 'tags'; its columns are 'tokens', 'ner_tags'"):
        readers.dataset(made, labels="tags")
    with pytest.raises(DataError, match="give one split of a data set"):
        readers.dataset(datasets.DatasetDict(train=made))
    wrong = pyarrow.table({"tokens": TOKENS, "ner_tags": [[0, 1, 1], [3]]})
    beyond = datasets.Dataset(wrong.cast(made.features.arrow_schema), info=made.info)
    with pytest.raises(DataError, match=r"row 1, 'ner_tags', position 0: 3 is no class; .* from 0 to 2"):
        readers.dataset(beyond).load()


def test_json_lines_plain_and_gzipped_with_fields_of_any_name(tmp_path):
    objects = [{"words": tokens, "tags": labels} for tokens, labels in zip(TOKENS, LABELS, strict=True)]
    path = write_lines(tmp_path / "data.jsonl", objects)
    assert readers.json_lines(path, "words", "tags").load() == (ROWS, LABELS)
    (tmp_path / "data.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert readers.json_lines(tmp_path / "data.jsonl.gz", "words", None).tokens() == TOKENS


def test_what_pandas_and_polars_write_as_json_lines_is_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "data.jsonl"
    pandas.DataFrame(NESTED).to_json(path, orient="records", lines=True)
    assert readers.json_lines(path).load() == (ROWS, LABELS)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"], "labels": ["x"', r"data\.jsonl:3: the line is not JSON"),
        ("[1]", r"data\.jsonl:3: the line is a list, not an object"),
        ('{"tokens": ["a"]}', r"data\.jsonl:3: there is no field 'labels'; the fields are 'tokens'"),
        ('{"tokens": "a b", "labels": []}', r"data\.jsonl:3: 'tokens' is a str; give a list"),
        ('{"tokens": ["a"], "labels": []}', r"data\.jsonl:3: 'tokens' has 1 entries and 'labels' has 0"),
        ('{"tokens": ["a", 5], "labels": ["x", "y"]}', r"data\.jsonl:3, 'tokens', position 1: 5 is no string"),
        ('{"tokens": ["a"], "labels": [null]}', r"data\.jsonl:3, 'labels', position 0: None is no label"),
        ("[" * 100_000, r"data\.jsonl:3: the line is not JSON"),
    ],
)
def test_a_broken_line_of_json_is_named(tmp_path, line, message):
    (tmp_path / "data.jsonl").write_text(f'{{"tokens": ["a"], "labels": ["x"]}}\n\n{line}\n')
    with pytest.raises(DataError, match=message):
        readers.json_lines(tmp_path / "data.jsonl").load()


CONLLU = """# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tx\tx\tVERB\t_\t_\t_\t_\t_\t_

1\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\t_
"""


def test_conllu_has_syntactic_words_alone(tmp_path):
    path = tmp_path / "data.conllu"
    path.write_text(CONLLU)
    assert readers.conllu(path).load() == ([[["vamos"], ["nos"]], [["mar"]]], [["VERB", "PRON"], ["NOUN"]])
    assert readers.conllu(path, ["form", "upos"], "deprel").load()[1] == [["root", "obj"], ["root"]]
    assert [sentence.place for sentence in readers.conllu(path)] == [f"{path}:4", f"{path}:8"]
    path.write_text(CONLLU + "2\tazul ADJ\n")
    with pytest.raises(DataError, match=r"data\.conllu:9: found 2 columns instead of 10"):
        readers.conllu(path).load()
    with pytest.raises(ValueError, match="labels must be one of id, form"):
        readers.conllu(path, labels="ner")


def test_a_reader_gives_what_features_and_an_estimator_take(tmp_path):
    objects = [{"tokens": tokens, "labels": labels} for tokens, labels in zip(TOKENS, LABELS, strict=True)]
    X, y = readers.json_lines(write_lines(tmp_path / "data.jsonl", objects)).load()
    make = features.columns()
    assert CRF(n_jobs=1).fit(make.transform(X), y).predict(make.transform(X)) == y


@pytest.mark.parametrize(("package", "extra"), [("pyarrow", "parquet"), ("spacy", "spacy")])
def test_a_missing_package_is_named_with_the_pip_command(monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'fastcrf\[{extra}\]'"):
        readers.parquet("data.parquet") if package == "pyarrow" else readers.spacy_docs([])
