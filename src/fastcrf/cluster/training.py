"""Train on a cluster: `fit_on_cluster` does for shards what `fit_corpus` does for a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fastcrf.cluster.connection import check_engine, connected
from fastcrf.cluster.local_learning import averaged_start
from fastcrf.cluster.placement import Place, from_client, from_encoded, pieces_of
from fastcrf.cluster.problem import ClusterProblem
from fastcrf.cluster.shard import Share
from fastcrf.core.checks import whole
from fastcrf.core.types import NOTHING
from fastcrf.data.corpus_file.reading import EncodedCorpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.fitting.fit import Fit, fit_problem
from fastcrf.fitting.plan import Plan, check_held_out
from fastcrf.model.model import Model
from fastcrf.solvers.registry import check_needs

HeldOutFiles = tuple[Sequence[str], Callable[..., Any]]  # paths, and what reads a share of one


def fit_sequences(
    engine: str, X: Any, y: Any, plan: Plan, attributes: Attributes, sample_weight: Any, **how: Any
) -> Fit:
    """Train on sequences of this process: it encodes them, and sends each worker its shards."""
    check_before(engine, plan, how)
    return fit_here(engine, from_client(*encode_training(X, y, sample_weight, attributes)), plan, **how)


def fit_encoded(engine: str, encoded: EncodedCorpus, plan: Plan, **how: Any) -> Fit:
    """Train on an encoded corpus that workers map."""
    check_before(engine, plan, how)
    return fit_here(engine, from_encoded(encoded), plan, **how)


def fit_here(engine: str, place: Place, plan: Plan, n_jobs: int | None = None, dev: Any = None, **how: Any) -> Fit:
    """Train as an estimator does: held-out data is in this process and is sent to the workers."""
    files = None if dev is None else ([""], Given(list(dev[0]), list(dev[1])).share)
    return fit_on_cluster(engine, place, plan, n_shards=n_jobs, dev=files, **how)


class Given(NamedTuple):
    """Held-out sequences that travel with the task that reads them."""

    X: list[Any]
    y: list[Any]
    weights: None = None

    def share(self, path: str, progress: None, share: Share) -> Given:
        return Given(self.X[slice(*share)], self.y[slice(*share)])


def check_before(engine: str, plan: Plan, how: Mapping[str, Any]) -> None:
    """Reject what a cluster cannot do, before anything is read."""
    check_engine(engine)
    try:
        check_needs(plan.solver, ClusterProblem.provides)
    except ValueError as error:
        remedy = "use lbfgs, owlqn or another batch solver, or train in one process"
        raise ValueError(f"{str(error).rstrip('.')} on a cluster; {remedy}.") from None
    constraints = how.get("constraints")
    if how.get("constrained_training"):
        raise ValueError("constrained_training=True is for data in one process; on a cluster, set it to False.")
    if constraints is not None and isinstance(constraints.dictionary, str):
        raise ValueError("On a cluster, dictionary must map names of attributes to labels; give a mapping.")
    if how.get("prior") is not None:
        raise ValueError("A prior is for data in one process; on a cluster, train without it.")
    check_held_out(plan, how.get("dev") is not None)


def fit_on_cluster(
    engine: str,
    place: Place,
    plan: Plan,
    *,
    n_shards: int | None = None,
    local_epochs: int = 0,
    dev: HeldOutFiles | None = None,
    min_count: int = 1,
    features: Mapping[str, Any] = NOTHING,
    prior: Model | None = None,
    constrained_training: bool = False,
    **how: Any,
) -> Fit:
    """Train on shards that `place` puts on the workers of an engine.

    n_shards: as many shards, each of which is evaluated by one thread; as many as there are threads if None;
    local_epochs: let each shard learn alone for so many epochs, and start from the mean (local_learning.py);
    dev:      held-out files that workers read; features: options of `choose_features`;
    how:      what `fit_problem` takes besides.
    """
    check_before(engine, plan, {**how, "dev": dev, "prior": prior, "constrained_training": constrained_training})
    if whole("min_count", min_count, 1) > 1:
        raise ValueError(f"min_count={min_count} is for data in one process; on a cluster, use min_freq.")
    with connected(engine) as client:
        n_threads = sum(client.nthreads().values())
        shards = whole("the number of shards", n_shards or n_threads, 1)
        problem = ClusterProblem(client, place, shards, dict(features), plan.c1, plan.c2)
        held_out = None
        if dev:
            paths, read = dev
            held_out = problem.held_out([piece for k in range(shards) for piece in pieces_of(paths, read, k, shards)])
        start = averaged_start(problem, local_epochs) if whole("local_epochs", local_epochs, 0) else None
        names = problem.attributes, problem.labels
        return fit_problem(problem, *names, plan, held_out=held_out, weights=start, **how)
