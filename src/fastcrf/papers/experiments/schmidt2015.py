"""Schmidt et al. (2015), section 6: four tasks, lambda = 1/n, 100 effective passes.

Eleven methods on the training objective (Figures 1 and 5) and on the test error (Figures 2, 3 and 6), three variants of
OEG (Figure 4), what the stored gradients take (a table), and what text and footnotes say.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fastcrf.lab.dataset import Dataset
from fastcrf.lab.experiment import Penalty
from fastcrf.lab.limits import Limits
from fastcrf.papers.claims import Outcome, compared, decided, ends, near, spends
from fastcrf.papers.experiment import Curve, Row, Study
from fastcrf.papers.item import Claim, Figure, Item, Panel, Paper, Quantity
from fastcrf.papers.view import View, middle
from fastcrf.solvers.registry import make
from fastcrf.stopping import CertifiedGap, MaxPasses, Rule
from fastcrf.training.driver import minimize

SETS = ("ocr", "conll2000-cut", "dutch", "treebank")
TITLES = ("OCR", "CoNLL-2000", "CoNLL-2002", "POS-WSJ")
LAMBDA = Penalty(0.0, 0.5)  # the paper's 1/n
PASSES = Limits(tol=1e-9, passes=100.0)
MARKS = (0.5, *range(1, 11), *range(12, 31, 2), *range(35, 101, 5))
POWERS = tuple(10.0**k for k in range(-5, 3))
HOURS = {"ocr": 0.3, "conll2000-cut": 1.0, "dutch": 1.0, "treebank": 1.0}

# mu and lambda of SMD: the paper tried the four choices of Vishwanathan et al. (2006), which it does not print
SMD = tuple({"meta_rate": mu, "decay": decay} for mu in (0.02, 0.1) for decay in (0.99, 1.0))

CLASSIC = (
    Curve("Pegasos", "pegasos", etas=POWERS, first=1.0),
    Curve("SG", "sg", etas=POWERS),
    Curve("ASG", "asg", etas=POWERS),
    Curve("AdaGrad", "adagrad", {"delta": 1.0, "floor": 0.0}, POWERS),
)
TUNED = tuple(curve.label for curve in CLASSIC)
OTHERS = (
    Curve("L-BFGS", "lbfgs", {"pairs": 100}),
    Curve("Hybrid", "hybrid"),
    Curve("OEG", "oeg"),
    Curve("SAG", "sag"),
    Curve("SAG-NUS", "sag-nus"),
    Curve("SAG-NUS*", "sag-nus-star"),
)
COMPARISON = Study(
    "schmidt2015-comparison", SETS, (*CLASSIC, *OTHERS), (LAMBDA,), PASSES, MARKS, ("error",), optimum=True, hours=HOURS
)
META_DESCENT = Study(
    "schmidt2015-smd",
    ("ocr",),
    (Curve("SMD", "smd", SMD[0], POWERS, others=SMD[1:]),),
    (LAMBDA,),
    PASSES,
    MARKS,
    ("error",),
    hours={"ocr": 1.0},
)
PARTS = tuple(f"{name}-part" for name in SETS[1:])
META_DESCENT_ON_PARTS = Study(  # an update of SMD moves every weight: on the whole sets, hours for 100 passes
    "schmidt2015-smd-parts",
    PARTS,
    (Curve("SMD", "smd", SMD[0], POWERS, others=SMD[1:]), Curve("ASG", "asg", etas=POWERS)),
    (LAMBDA,),
    Limits(tol=1e-9, passes=30.0),
    tuple(mark for mark in MARKS if mark <= 30.0),
    ("error",),
    seeds=1,
    optimum=True,
    hours=dict.fromkeys(PARTS, 0.2),
)
ALL_METHODS = (COMPARISON, META_DESCENT, META_DESCENT_ON_PARTS)
OEG = Study(
    "schmidt2015-oeg",
    SETS,
    (Curve("OEG-noRP", "oeg", {"permutation": False}), Curve("OEG-10", "oeg", {"initial": 10.0})),
    (LAMBDA,),
    PASSES,
    MARKS,
    ("error",),
    hours={"ocr": 0.02, "conll2000-cut": 0.3, "dutch": 0.3, "treebank": 0.2},
)
STEPS = tuple(
    Curve(f"{label}, {title}", name, {"schedule": schedule}, POWERS)
    for label, name in (("SG", "sgd"), ("ASG", "asg"))
    for title, schedule in (("1/sqrt(t)", "sqrt"), ("1/(delta+t)", "inverse"))
)
TEXT = Study(
    "schmidt2015-text",
    SETS[:2],
    (
        Curve("averaged Pegasos", "pegasos", {"average": True}, POWERS, first=1.0),
        *STEPS,
        Curve("SG-NUS", "sg-nus", etas=POWERS),
        Curve("SAG-NUS*, L = 0.001", "sag-nus-star", {"first_lipschitz": 1e-3}),
        Curve("SAG-NUS*, L = 1000", "sag-nus-star", {"first_lipschitz": 1e3}),
        Curve("SAGA", "saga", {"step_divisor": 1.0}),
        Curve("SAGA-NUS*", "saga-nus-star", {"step_divisor": 1.0}),
        Curve("SVRG", "svrg"),
        Curve("EMGD", "emgd"),
    ),
    (LAMBDA,),
    PASSES,
    MARKS,
    ("error",),
    hours={"ocr": 0.2, "conll2000-cut": 1.0},
)
LARGE, SMALL = 5.0, 0.005  # c2 of lambda n = 10 and 0.01
LAMBDAS = Study(
    "schmidt2015-lambda",
    ("ocr",),
    (Curve("OEG at lambda", "oeg"), Curve("SAG-NUS* at lambda", "sag-nus-star"), Curve("L-BFGS at lambda", "lbfgs")),
    tuple(Penalty(0.0, c2) for c2 in (LARGE, 0.5, 0.05, SMALL)),
    Limits(tol=1e-9, passes=200.0),
    optimum=True,
    hours={"ocr": 0.2},
)


WARM, WEIGHTS, COLD = "warm gradients", "warm weights", "from zeros"
PATH = (LARGE, 0.5, 0.05)  # c2, from the strongest to the weakest
NEAR = 1e-4  # certified relative gap at which the next lambda begins


def passes_of_path(dataset: Dataset) -> Row:
    """Effective passes of SAG-NUS* over a sequence of lambdas, by what each start takes over from the one before."""
    solver = make("sag-nus-star", seed=0)
    found: Row = {}
    for way in (WARM, WEIGHTS, COLD):
        found[way], result = 0.0, None
        for c2 in PATH:
            before: dict[str, Any] = {}
            if result and way != COLD:
                before = {"state": result.state} if way == WARM else {"weights": result.weights}
            rules: list[Rule] = [CertifiedGap(NEAR), MaxPasses(300.0)]
            result = minimize(dataset.problem(0.0, c2, 1), solver, stop=rules, measure=True, **before)
            found[way] += result.trace[-1]["passes"]
    return found


WARM_PATH = Study("schmidt2015-path", ("ocr",), probe=passes_of_path, hours={"ocr": 0.02})


def gains_of_memory(view: View) -> Iterator[Outcome]:
    row = view.probe("ocr", WARM_PATH.name)
    for other in (WEIGHTS, COLD):
        pair = (float(row[WARM]), float(row[other])) if row else (None, None)
        yield compared(f"ocr, against {other}:", pair, 0.0, 1.0)


def panels(y: str) -> tuple[Panel, ...]:
    return tuple(Panel(title, name, y) for title, name in zip(TITLES, SETS, strict=True))


def stored(dataset: Dataset) -> Row:
    """Numbers that each way to store gradients needs, over those of the naive way: one gradient for each sequence."""
    corpus, K = dataset.corpus, dataset.features.n_labels
    lengths = np.diff(corpus.starts)
    of_attribute = np.diff(dataset.features.offsets)
    bounds = corpus.offsets[corpus.starts]
    distinct = [np.unique(corpus.attributes[a:b]) for a, b in pairwise(bounds)]
    naive = float(corpus.n_sequences * dataset.features.n_weights)
    edges = corpus.n_sequences * K * K
    return {
        "Sparse": (sum(int(of_attribute[each].sum()) for each in distinct) + edges) / naive,
        "Marginals": (int(lengths.sum()) * K + int((lengths - 1).sum()) * K * K) / naive,
        "Mixed": (int(lengths.sum()) * K + edges) / naive,
    }


MEMORY = Study("schmidt2015-memory", SETS, probe=stored, hours={"ocr": 0.01, "conll2000-cut": 0.03})
PRINTED = {
    "ocr": (7.8e-1, 1.1, 2.1e-1),
    "conll2000-cut": (4.8e-3, 7.0e-3, 6.1e-4),
    "dutch": (6.4e-4, 3.8e-4, 7.0e-5),
    "treebank": (1.3e-3, 5.5e-3, 3.6e-4),
}


def share(name: str, way: str) -> Quantity:
    """Only the letters have the paper's own features."""
    printed = PRINTED[name][("Sparse", "Marginals", "Mixed").index(way)]

    def measure(view: View) -> list[float]:
        row = view.probe(name, MEMORY.name)
        return [] if row is None else [row[way]]

    return Quantity(f"{TITLES[SETS.index(name)]}, {way}", printed, measure, ".2g", 0.05 if name == "ocr" else None)


def second_best() -> Claim:
    """Figure 2: far worse with the second-best step size."""

    def outcomes(view: View) -> Iterator[Outcome]:
        for name in SETS:
            for label in ("SG", "ASG", "AdaGrad"):
                best, second = (middle(view.values(name, label, "excess", 100.0, rank=rank)) for rank in (0, 1))
                held = None if best is None or second is None else second > 2.0 * best
                yield f"{name}: {label} {'' if held is None else f'{best:.3g} and {second:.3g}'}", held

    return decided("The second-best step size is much worse (twice the distance to the optimum or more).", outcomes)


def degradation() -> Claim:
    """From a large lambda to a small one, passes of OEG grow by more than those of SAG-NUS*."""

    def outcomes(view: View) -> Iterator[Outcome]:
        for gap in (1e-2, 1e-4):
            grown = []
            for label in ("OEG at lambda", "SAG-NUS* at lambda"):
                large, small = (middle(view.spent("ocr", label, gap, c=c)) for c in (LARGE, SMALL))
                grown.append(None if not large or small is None else small / large)
            of_oeg, of_sag = grown
            if of_oeg is None or of_sag is None or (np.isinf(of_oeg) and np.isinf(of_sag)):
                yield f"to {gap:g}: one of them", None
            else:
                yield f"to {gap:g}: passes grow {of_oeg:.3g} and {of_sag:.3g} times", of_oeg > of_sag

    return decided("OEG degrades substantially where lambda is small; SAG degrades more gracefully.", outcomes)


OURS = (
    "Features and training sets are in the table of sets. SMD moves every weight at every update: it runs on all "
    "letters and, beside ASG alone, on the first 200 sentences of the other sets, for 30 passes. Step sizes are chosen "
    "with the first seed, by the objective after 100 passes."
)


def tuned_for(one: str, other: str, sets: tuple[str, ...]) -> Claim:
    """Each with the step size that is best after so many passes, as a reader with so much time would choose it."""

    def outcomes(view: View) -> Iterator[Outcome]:
        for name in sets:
            for passes in (10.0, 30.0, 100.0):
                pair = middle(view.lowest(name, one, passes)), middle(view.lowest(name, other, passes))
                yield compared(f"{name} at {passes:g}:", pair, 0.0, 1.0)

    return decided(f"{one} outperforms {other}, each with the step size that is best for so many passes.", outcomes)


FIGURE_ONE = (
    spends("SG outperforms Pegasos.", "SG", "Pegasos", SETS, gaps=(0.1, 1e-2)),
    ends("ASG outperforms AdaGrad.", "ASG", "AdaGrad", SETS, at=(10.0, 30.0, 100.0)),
    ends("ASG outperforms SMD.", "ASG", "SMD", ("ocr", *PARTS), at=(10.0, 30.0)),
    ends("ASG outperforms SG.", "ASG", "SG", SETS, at=(10.0, 30.0, 100.0)),
    tuned_for("ASG", "SG", SETS),
    tuned_for("ASG", "AdaGrad", SETS),
    spends("Hybrid outperforms L-BFGS.", "Hybrid", "L-BFGS", SETS),
    spends("SAG-NUS* outperforms L-BFGS.", "SAG-NUS*", "L-BFGS", SETS),
    spends("SAG-NUS* outperforms ASG.", "SAG-NUS*", "ASG", SETS),
    spends("SAG-NUS outperforms uniform SAG.", "SAG-NUS", "SAG", SETS),
    spends("SAG-NUS* always outperforms SAG-NUS.", "SAG-NUS*", "SAG-NUS", SETS),
)
LIKE: dict[str, Any] = {"least": 1 / 1.5, "most": 1.5}

ITEMS = (
    Item(
        "schmidt2015/figure-1", "Figure 1: objective against passes",
        "Both SAG-NUS methods outperform all others but OEG by a substantial margin; SAG-NUS* is always the better.",
        ALL_METHODS, claims=FIGURE_ONE, figure=Figure(panels("excess"), "passes"), differs=OURS,
    ),
    Item(
        "schmidt2015/figure-2", "Figure 2: test error against passes",
        "SAG-NUS* is always among the best; the classic methods need the best step size (dotted: the second best).",
        ALL_METHODS,
        claims=(
            near("After 100 passes the error of SAG-NUS* is within 0.3 points of that of the tuned methods.",
                 ("SAG-NUS*", "ASG", "AdaGrad"), SETS, "accuracy", 0.3),
            second_best(),
            *(ends(f"The test error of {label} is higher with the second-best step size.", label, label, SETS, "error",
                   at=(10.0, 100.0), least=1.0, most=1e9, rank=1) for label in ("SG", "ASG", "AdaGrad")),
        ),
        figure=Figure(panels("error"), "passes", ("SG", "ASG", "AdaGrad", "SMD", "L-BFGS", "Hybrid", "OEG", "SAG-NUS*"),
                      dotted=True),
        differs=OURS,
    ),
    Item(
        "schmidt2015/figure-3", "Figure 3: test error against passes, all methods",
        "SAG-NUS methods are like the best among the optimally tuned stochastic methods; Pegasos is off the plot.",
        ALL_METHODS,
        claims=(
            near("After 30 passes SAG-NUS and SAG-NUS* have the same error, within 0.3 points.",
                 ("SAG-NUS*", "SAG-NUS"), SETS, "accuracy", 0.3, 30.0),
            ends("After 10 passes Pegasos has the highest error: above that of SG.", "SG", "Pegasos", SETS, "error",
                 at=(10.0,)),
        ),
        figure=Figure(panels("error"), "passes"), differs=OURS,
    ),
    Item(
        "schmidt2015/figure-4", "Figure 4: variants of OEG",
        "Without the permutation OEG is much worse on one set; with an initial value of 10 it is nearly as good as "
        "SAG-NUS* where it was poor.",
        (COMPARISON, OEG),
        claims=(
            spends("OEG with a permutation is not worse than without it.", "OEG", "OEG-noRP", SETS, most=1.05),
            spends("OEG-10 is better than OEG on the last two sets.", "OEG-10", "OEG", SETS[2:]),
            spends("OEG-10 is nearly as good as SAG-NUS* on the last two sets (at most 1.5 times the passes).",
                   "OEG-10", "SAG-NUS*", SETS[2:], most=1.5),
        ),
        figure=Figure(panels("excess"), "passes", ("OEG", "OEG-noRP", "OEG-10", "SAG-NUS*")), differs=OURS,
    ),
    Item(
        "schmidt2015/figure-5", "Figure 5: objective against time",
        "The same trends as in passes, but for AdaGrad, Hybrid and OEG.",
        ALL_METHODS,
        claims=(
            spends("Hybrid is also faster than L-BFGS in time.", "Hybrid", "L-BFGS", SETS, x="cpu_seconds"),
            spends("OEG is much worse in time: above SAG-NUS*.", "SAG-NUS*", "OEG", SETS, x="cpu_seconds"),
            spends("SAG-NUS* is ahead of L-BFGS in time.", "SAG-NUS*", "L-BFGS", SETS, x="cpu_seconds"),
        ),
        figure=Figure(panels("excess"), "cpu_seconds"), differs=f"{OURS} Time is CPU time of the solver.",
    ),
    Item(
        "schmidt2015/figure-6", "Figure 6: test error against time",
        "The same trends as against passes.",
        ALL_METHODS,
        claims=(
            decided("SAG-NUS* comes within 5 % of its final error before L-BFGS does, in CPU time.", lambda view: (
                first_within(view, name, "SAG-NUS*", "L-BFGS") for name in SETS)),
        ),
        figure=Figure(panels("error"), "cpu_seconds"), differs=f"{OURS} Time is CPU time of the solver.",
    ),
    Item(
        "schmidt2015/memory", "Table: memory of the stored gradients",
        "Storing node marginals and the gradient of pairwise features (Mixed) takes the least on every set.",
        (MEMORY,),
        quantities=tuple(share(name, way) for name in SETS for way in ("Sparse", "Marginals", "Mixed")),
        claims=(
            decided("Mixed is the smallest on every set.", lambda view: (
                (name, None if (row := view.probe(name, MEMORY.name)) is None else row["Mixed"] == min(row.values()))
                for name in SETS)),
        ),
        differs="Numbers are counted, relative to one full gradient for each sequence. Only the letters have the "
        "paper's features, so only their figures must agree (within 5 %).",
    ),
    Item(
        "schmidt2015/text", "Text and footnotes",
        "What Section 6 says without a figure, footnotes 1, 6, 7 and 10, and Section 3 on small lambda.",
        (COMPARISON, TEXT, LAMBDAS, WARM_PATH),
        claims=(
            ends("Footnote 6: Pegasos with averaging is worse than without.", "Pegasos", "averaged Pegasos", SETS[:2]),
            *(ends(f"Footnote 7: {label} is worse with steps of {title}.", label, f"{label}, {title}", SETS[:2])
              for label in ("SG", "ASG") for title in ("1/sqrt(t)", "1/(delta+t)")),
            ends("Footnote 10: SG with non-uniform sampling is like SG.", "SG-NUS", "SG", SETS[:2], "mean_objective",
                 least=0.98, most=1.02),
            *(spends(f"A first L of {value:g} instead of 1 does not matter.", f"SAG-NUS*, L = {value:g}", "SAG-NUS*",
                     SETS[:2], **LIKE) for value in (1e-3, 1e3)),
            spends("SAGA is like SAG.", "SAGA", "SAG", SETS[:2], **LIKE),
            spends("SAGA with NUS* is like SAG with NUS*.", "SAGA-NUS*", "SAG-NUS*", SETS[:2], **LIKE),
            spends("SVRG is like SAG at half its speed, or slightly worse.", "SVRG", "SAG", SETS[:2], least=4 / 3,
                   most=3.0),
            degradation(),
            decided("Footnote 1: for a sequence of lambdas, warm-started gradients need the fewest passes.",
                    gains_of_memory),
        ),
        differs="SG-NUS is `sg-nus`: the samples and searches of SAG-NUS*, whose passes count, and unbiased steps.",
    ),
)  # fmt: skip


def first_within(view: View, name: str, one: str, other: str) -> tuple[str, bool | None]:
    """Whether `one` comes within 5 % of its final error before `other` comes there."""
    goal = middle(view.values(name, one, "error"))
    if goal is None or not view.runs(name, other):
        return name, None
    first, second = (middle(view.until(name, label, "error", 1.05 * goal, "cpu_seconds")) for label in (one, other))
    return f"{name}: {first:.3g} s and {second:.3g} s", bool(first < second)  # type: ignore[operator]


PAPER = Paper(
    "schmidt2015",
    "Schmidt et al. (2015)",
    "Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), Non-Uniform Stochastic Average Gradient Method for "
    "Training Conditional Random Fields, AISTATS.",
    "SAG with non-uniform sampling reaches a low objective in fewer passes than any other method but OEG, without a "
    "step size to tune, and its test error is that of the best tuned ones.",
    ITEMS,
    {},
    "On the letters ASG is behind SG and AdaGrad for the first 30 passes, even if each has the step size that is "
    "best for so many passes, and ahead of both after 100; its second-best step size by the objective has the lower "
    "test error. On 1,000 sentences of the other sets it is the other way around: ASG is first at 30 passes and "
    "stalls behind SG at 100. Steps of 1/sqrt(t) are better for SG than constant ones on the letters, where "
    "footnote 7 calls them worse. Hybrid needs 1.3 to 1.5 times the passes of L-BFGS with 100 pairs. The advantage "
    "of SAG-NUS* over L-BFGS is that of many sequences: on 1,000 sentences of CoNLL-2000 both need 50 passes to "
    "1e-4, on the 6,251 letters 35 and 100.",
)
