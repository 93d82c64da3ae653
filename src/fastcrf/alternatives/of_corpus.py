"""The n best label sequences, samples, pair probabilities and entropies of a corpus, in NumPy or compiled.

decoder_choice.py says which. Where no label sequence is allowed for a sequence, NoSequence says which sequence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastcrf.alternatives.chain_states import Chain, make_chain, mask_of
from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints
from fastcrf.decoding.decoder_choice import INFERENCE, infer_corpus, is_compiled
from fastcrf.decoding.input_checks import require_memory_for, require_memory_for_states
from fastcrf.inference.score_range import DENSE
from fastcrf.system.memory_budget import SMALL, require_memory


class NoSequence(Exception):
    """Raise where no label sequence is allowed; `sequence` is its number."""

    def __init__(self, sequence: int) -> None:
        super().__init__(sequence)
        self.sequence = sequence


class Weighted(NamedTuple):
    """What decodes: the features of a model, their weights, and the labels that are allowed."""

    features: FeatureMap
    weights: Floats
    allowed: Allowed | None

    def chain(self) -> Chain:
        """Return the states and steps."""
        return make_chain(self.features, self.weights, self.allowed)

    def relative_chain(self) -> Chain:
        """Return the same with the largest step subtracted from all but those to the end."""
        chain = self.chain()
        inner = chain.steps[: chain.starts[-2]]
        inner -= inner.max(initial=-np.inf) if np.isfinite(inner).any() else 0.0
        return chain

    def mask(self) -> Any:
        return mask_of(self.allowed, self.features.n_labels)

    def scores(self, corpus: Corpus) -> list[Floats]:
        """Return the label scores of each sequence, [T, K]; -inf where a label is not allowed."""
        from fastcrf.decoding.plain_decoder import position_scores

        scores = position_scores(corpus, self.features, self.weights)
        if self.allowed is not None:
            scores[~self.allowed.mask()] = -np.inf
        return [scores[first:last] for first, last in pairwise(corpus.starts.tolist())]

    def check_memory(self, corpus: Corpus, numbers: int, what: str) -> None:
        """Raise if the work arrays, and so many numbers of the result, would fill the memory."""
        require_memory_for(self.features.n_labels, corpus.n_positions, squares=6, rows=2)
        require_memory_for_states(corpus, self.features, rows=4, columns=6)
        if 8 * numbers > SMALL:
            require_memory(8 * numbers, f"{what} for {corpus.n_positions:,} tokens", "ask for fewer at a time")


class Paths(NamedTuple):
    """The best label sequences of one sequence, the best one first."""

    labels: Ints  # [m, T]
    scores: Floats  # [m]


def best_paths(corpus: Corpus, weighted: Weighted, n: int) -> list[Paths]:
    """Return the n best label sequences of each sequence, or all if there are fewer; ties go to the lowest id."""
    weighted.check_memory(corpus, n * (corpus.n_positions + corpus.n_sequences), f"The {n:,} best label sequences")
    features, chain = weighted.features, weighted.chain()
    if not is_compiled(n * INFERENCE, corpus, features):
        return [paths_of(scores, chain, n, i) for i, scores in enumerate(weighted.scores(corpus))]
    from fastcrf.alternatives.nbest import Best, best_of_corpus

    N, labels = corpus.n_sequences, np.empty(n * corpus.n_positions, np.int32)
    best = Best(labels, np.empty((N, n)), np.empty(N, np.int64))
    best_of_corpus(corpus, features, weighted.weights, chain, weighted.mask(), n, best)
    if not best.counts.all():
        raise NoSequence(int(best.counts.argmin()))
    found = []
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        m, T = int(best.counts[i]), last - first
        found.append(Paths(labels[n * first : n * first + m * T].reshape(m, T), best.scores[i, :m]))
    return found


def paths_of(scores: Floats, chain: Chain, n: int, i: int) -> Paths:
    """Return the same for scored sequence i, in NumPy."""
    from fastcrf.alternatives.plain_nbest import best_of_sequence

    labels, totals = best_of_sequence(scores, chain, n)
    if not labels:
        raise NoSequence(i)
    return Paths(np.array(labels, np.int32).reshape(len(labels), len(scores)), np.array(totals))


def log_chances_of_paths(corpus: Corpus, weighted: Weighted, found: list[Paths]) -> list[Floats]:
    """Compute the log of the probability of each of the best label sequences, by sequence."""
    features, weights, allowed = weighted
    _, log_z = infer_corpus(corpus, features, weights, allowed)
    chances = [np.minimum(paths.scores - z, 0.0) for paths, z in zip(found, log_z.tolist(), strict=True)]
    for i in np.flatnonzero(np.abs(log_z) > DENSE).tolist():  # score - log Z would lose digits
        from fastcrf.decoding.plain_decoder import log_chance

        one, own = corpus.slice_of(i, i + 1), None if allowed is None else allowed.slice_of(*corpus.starts[i : i + 2])
        chances[i] = np.array([log_chance(one, features, weights, path, 0, own) for path in found[i].labels])
    return chances


def sample_paths(corpus: Corpus, weighted: Weighted, n: int, random: np.random.Generator) -> Ints:
    """Sample n label sequences of each sequence, [n, P]."""
    weighted.check_memory(corpus, 2 * n * corpus.n_positions, f"{n:,} samples")
    chain, uniform = weighted.relative_chain(), random.random((corpus.n_positions, n))
    labels = np.empty((n, corpus.n_positions), np.int32)
    if is_compiled(INFERENCE, corpus, weighted.features):
        from fastcrf.alternatives.posterior import sample_corpus

        check(sample_corpus(corpus, *weighted[:2], chain, weighted.mask(), uniform, labels))
        return labels
    from fastcrf.alternatives.plain_posterior import sample

    for i, (scores, (first, last)) in enumerate(zip(weighted.scores(corpus), pairwise(corpus.starts), strict=True)):
        labels[:, first:last] = possible(sample(scores, chain, uniform[first:last]), i)
    return labels


def pair_probabilities(corpus: Corpus, weighted: Weighted) -> Floats:
    """Compute p(y_t = j, y_{t+1} = k | x), [P, K, K], 0 at the last position of a sequence."""
    K = weighted.features.n_labels
    weighted.check_memory(corpus, corpus.n_positions * K * K, f"The probabilities of {K * K:,} pairs of labels")
    chain, found = weighted.relative_chain(), np.zeros((corpus.n_positions, K, K))
    if is_compiled(INFERENCE, corpus, weighted.features):
        from fastcrf.alternatives.posterior import pairs_of_corpus

        check(pairs_of_corpus(corpus, *weighted[:2], chain, weighted.mask(), found))
        return found
    from fastcrf.alternatives.plain_posterior import pairs

    for i, (scores, (first, last)) in enumerate(zip(weighted.scores(corpus), pairwise(corpus.starts), strict=True)):
        found[first:last] = possible(pairs(scores, chain), i)
    return found


def entropies(corpus: Corpus, weighted: Weighted) -> Floats:
    """Compute the entropy of p(y | x) of each sequence, [N], in nats."""
    weighted.check_memory(corpus, 0, "Entropies")
    chain, found = weighted.relative_chain(), np.zeros(corpus.n_sequences)
    if is_compiled(INFERENCE, corpus, weighted.features):
        from fastcrf.alternatives.posterior import entropies_of_corpus

        check(entropies_of_corpus(corpus, *weighted[:2], chain, weighted.mask(), found))
        return found
    from fastcrf.alternatives.plain_posterior import entropy

    found[:] = [possible(entropy(scores, chain), i) for i, scores in enumerate(weighted.scores(corpus))]
    return found


def check(impossible: int) -> None:
    """Raise NoSequence if a kernel says that a sequence has no label sequence."""
    if impossible >= 0:
        raise NoSequence(impossible)


def possible(found: Any, i: int) -> Any:
    """Return what was found for sequence i, or raise NoSequence."""
    if found is None:
        raise NoSequence(i)
    return found
