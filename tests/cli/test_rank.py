from __future__ import annotations

import pytest

from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.model.model import Model

SENTENCES = [[["the", "D"], ["dog", "N"]], [["unseen", "X"], ["words", "X"], ["only", "X"]], [["sees", "V"]]]


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.txt"
    path.write_text("\n\n".join("\n".join(" ".join(row) for row in rows) for rows in SENTENCES) + "\n")
    return path


@pytest.mark.parametrize("by", ["entropy", "margin", "least_confident"])
def test_rank_prints_the_most_uncertain_sentence_first(run, pool, model, by, monkeypatch):
    monkeypatch.setattr("fastcrf.cli.tagging.ranked_lines.AT_ONCE", 2)
    found = Model.load(model).rank([column_items(rows) for rows in SENTENCES], by, per_token=True)
    result = run("rank", pool, "-m", model, "--by", by, "--per-token")
    lines, words = [1, 4, 8], ["the dog", "unseen words only", "sees"]
    assert result.stdout.splitlines() == [
        f"{score:.6f}\t{pool}\t{lines[i]}\t{words[i]}" for i, score in zip(*found, strict=True)
    ]
    assert (
        run("rank", pool, "-m", model, "--by", by, "--per-token", "--top", 1).stdout
        == result.stdout.split("\n")[0] + "\n"
    )


def test_an_unknown_measure_is_reported(run, pool, model):
    result = run("rank", pool, "-m", model, "--by", "size")
    assert result.exit_code == 2
    assert "--by must be entropy, margin, least_confident; got 'size'" in result.output
