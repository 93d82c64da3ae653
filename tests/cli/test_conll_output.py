"""On real output: a template model on CoNLL-2000, scored as seqeval (and so conlleval) scores it. Needs the corpus."""

from itertools import islice

import pytest
import seqeval.metrics

from fastcrf.data.files.conll import read_columns
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import load_template
from fastcrf.fitting.fit import fit_model
from fastcrf.fitting.plan import make_plan
from fastcrf.metrics import segment_scores
from reference.data_folder import corpus_file


def columns_and_labels(path, n):
    rows = [sentence.rows for sentence in islice(read_columns(str(path)), n)]
    return [[row[:-1] for row in sentence] for sentence in rows], [[row[-1] for row in sentence] for sentence in rows]


@pytest.mark.filterwarnings("ignore::UserWarning:seqeval")
def test_segment_scores_of_a_real_tagging_equal_seqevals():
    X, y = columns_and_labels(corpus_file("conll2000/train.txt.gz"), 300)
    X_test, y_test = columns_and_labels(corpus_file("conll2000/test.txt.gz"), 400)
    plan = make_plan(algorithm="lbfgs", max_iterations=15)
    model = fit_model(X, y, plan, attributes=TemplateAttributes.empty(load_template("crfsuite-chunking"))).model
    tagged = model.predict(X_test)
    ours, by_type = segment_scores(y_test, tagged)
    assert 0.5 < ours.f1 < 1.0  # a real output: right and wrong
    assert ours.precision == pytest.approx(seqeval.metrics.precision_score(y_test, tagged))
    assert ours.recall == pytest.approx(seqeval.metrics.recall_score(y_test, tagged))
    assert ours.f1 == pytest.approx(seqeval.metrics.f1_score(y_test, tagged))
    theirs = seqeval.metrics.classification_report(y_test, tagged, output_dict=True, zero_division=0)
    for kind, score in by_type.items():
        assert score.f1 == pytest.approx(theirs[kind]["f1-score"]), kind
