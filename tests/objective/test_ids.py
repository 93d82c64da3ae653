"""A problem is not made of a corpus whose ids have no place in its arrays."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from reference.random_corpora import random_corpus, random_features


@pytest.mark.parametrize(("field", "kind", "last"), [("attributes", "attribute", 5), ("labels", "label", 2)])
@pytest.mark.parametrize("beyond", [-1, 6])
def test_an_id_that_is_unknown_or_too_large_is_an_error_that_names_it(field, kind, last, beyond):
    corpus = random_corpus(3)
    ids = getattr(corpus, field).copy()
    ids[-1] = beyond
    words = f"The corpus has the {kind} id {beyond}, but training needs ids from 0 to {last};"
    with pytest.raises(ValueError, match=re.escape(words)):
        Problem(corpus._replace(**{field: ids}), random_features(3))


def test_a_corpus_without_attributes_is_a_problem():
    corpus = random_corpus(3)
    nothing = corpus._replace(offsets=np.zeros_like(corpus.offsets), attributes=np.zeros(0, np.int32))
    assert Problem(nothing, random_features(3)).value(np.zeros(random_features(3).n_weights)) > 0
