"""Tsuboi, Unno, Kashima & Okazaki (2011): Newton-CG on named entities, chunking and chunking at 1/4 of its size.

Figure 2 has the distance to the smallest objective (a-c) and the F1 of the test set (d-f) against time; Table 2 the
fastest batch and online method. Batch methods end at |g|_max <= 0.05, online methods after 200 passes.
"""

from __future__ import annotations

from fastcrf.lab.experiment import Penalty
from fastcrf.lab.limits import Limits
from fastcrf.papers.claims import Outcome, decided, ends, spends
from fastcrf.papers.experiment import Curve, Study
from fastcrf.papers.item import Claim, Figure, Item, Panel, Paper
from fastcrf.papers.view import View, middle

NER, CHUNKING, QUARTER = "spanish", "conll2000-crfpp", "conll2000-quarter"
SETS = (NER, CHUNKING, QUARTER)
TITLES = {NER: "NER", CHUNKING: "Chunking", QUARTER: "Chunking, 1/4 size"}
SIGMA = Penalty(0.0, 0.5)  # sigma = 1; the paper chooses it on the development set and does not print it
SLOPE = Limits(tol=None, passes=None, slope=0.05, seconds=1800.0)
ON_LINE = Limits(tol=None, passes=200.0)
ETAS = (0.01, 0.05, 0.1, 0.5)
MARKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200)

NEWTON = (
    Curve("NCG(c=ALL)", "newton-cg"),
    Curve("NCG(c=4K)", "newton-cg", {"cache": 4000}, sets=(NER, CHUNKING)),
    Curve("NCG(c=0)", "newton-cg", {"cache": 0}),
    Curve("NCG(AD)", "newton-cg", {"hessian": "ad"}),
)
QUASI = tuple(Curve(f"LBFGS(m={m})", "lbfgs", {"pairs": m}) for m in (5, 10, 50))
BATCH = Study(
    "tsuboi2011-batch", SETS, (*NEWTON, *QUASI), (SIGMA,), SLOPE, (), ("f1",), seeds=1, optimum=True,
    hours={NER: 0.2, CHUNKING: 0.5, QUARTER: 0.2},
)  # fmt: skip
STOCHASTIC = Study(
    "tsuboi2011-online", SETS,
    (
        Curve("SGD(1/k)", "sgd", {"schedule": "epoch", "calibration": "tsuboi"}),
        Curve("SGD(alpha^k)", "sgd", {"schedule": "exponential", "calibration": "tsuboi"}),
        Curve("EG", "oeg"),
    ),
    (SIGMA,), ON_LINE, MARKS, ("f1",), seeds=1, hours={NER: 0.1, CHUNKING: 0.2, QUARTER: 0.1},
)  # fmt: skip
VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0)  # sigma
TUNING = Study(
    "tsuboi2011-tuning", ("spanish-tuning", "conll2000-crfpp-tuning"),
    (Curve("LBFGS, tuning", "lbfgs", {"pairs": 10}),),
    tuple(Penalty(0.0, 0.5 / sigma**2) for sigma in VARIANCES), Limits(tol=1e-4, passes=300.0), (), ("f1",), seeds=1,
    hours={"spanish-tuning": 0.1, "conll2000-crfpp-tuning": 0.3},
)  # fmt: skip
STUDIES = (BATCH, STOCHASTIC)
DRAWN_F1 = ("NCG(c=ALL)", "NCG(AD)", "LBFGS(m=50)", "SGD(1/k)", "SGD(alpha^k)", "EG")


def time_to(view: View, name: str, label: str, share: float = 0.999) -> float | None:
    """CPU seconds until F1 is so near the best that any method of the set ends with; infinity if it never is."""
    highest = [middle(view.values(name, curve.label, "f1")) for curve in view.curves(name)]
    known = [value for value in highest if value is not None]
    if not known or not view.runs(name, label):
        return None
    return middle(view.until(name, label, "f1", share * max(known), "cpu_seconds", rising=True))


def sooner(sentence: str, one: str, other: str, name: str, least: float) -> Claim:
    """`one` needs at most 1 / least of the time of `other` to the best F1."""

    def outcomes(view: View) -> list[Outcome]:
        first, second = time_to(view, name, one), time_to(view, name, other)
        if first is None or second is None:
            return [(name, None)]
        return [(f"{name}: {first:.3g} s and {second:.3g} s", second >= least * first)]

    return decided(sentence, outcomes)


def objective_item(letter: str, name: str) -> Item:
    x, fine = "cpu_seconds", {"gaps": (1e-3, 1e-5), "x": "cpu_seconds"}
    return Item(
        f"tsuboi2011/figure-2{letter}", f"Figure 2({letter}): objective, {TITLES[name]}",
        "NCG(c=ALL) is the most accurate and fastest batch method, 2 to 3 times faster than NCG(c=0), which is still "
        "faster than LBFGS(m=50).",
        STUDIES,
        claims=(
            spends("NCG(c=ALL) is ahead of LBFGS(m=50).", "NCG(c=ALL)", "LBFGS(m=50)", (name,), **fine),  # type: ignore[arg-type]
            *(spends(f"It is ahead of LBFGS(m={m}).", "NCG(c=ALL)", f"LBFGS(m={m})", (name,), **fine)  # type: ignore[arg-type]
              for m in (5, 10)),
            spends("NCG(c=ALL) is 2 to 3 times as fast as NCG(c=0) (1.5 to 4).", "NCG(c=0)", "NCG(c=ALL)", (name,),
                   least=1.5, most=4.0, **fine),  # type: ignore[arg-type]
            spends("NCG(c=0) is ahead of LBFGS(m=50).", "NCG(c=0)", "LBFGS(m=50)", (name,), **fine),  # type: ignore[arg-type]
            spends("NCG(c=ALL) is ahead of NCG(AD).", "NCG(c=ALL)", "NCG(AD)", (name,), **fine),  # type: ignore[arg-type]
            ends("At the end SGD(alpha^k) has stalled above NCG(c=ALL).", "NCG(c=ALL)", "SGD(alpha^k)", (name,)),
        ),
        figure=Figure((Panel(TITLES[name], name, "excess"),), x, log_x=True), differs=OURS,
    )  # fmt: skip


def f1_item(letter: str, name: str) -> Item:
    return Item(
        f"tsuboi2011/figure-2{letter}", f"Figure 2({letter}): F1, {TITLES[name]}",
        "To a high F1 NCG(c=ALL) is 3 to 6 times faster than LBFGS and twice as fast as NCG(AD).", STUDIES,
        claims=(
            sooner("NCG(c=ALL) is at least twice as fast as LBFGS(m=50) to 99.9 % of the best F1.", "NCG(c=ALL)",
                   "LBFGS(m=50)", name, 2.0),
            sooner("It is at least 1.5 times as fast as NCG(AD).", "NCG(c=ALL)", "NCG(AD)", name, 1.5),
        ),
        figure=Figure((Panel(TITLES[name], name, "f1"),), "cpu_seconds", DRAWN_F1, log_x=True), differs=OURS,
    )  # fmt: skip


def fastest(name: str, expected: str, among: tuple[str, ...]) -> Claim:
    """Table 2: who comes to the best F1 first."""

    def outcomes(view: View) -> list[Outcome]:
        times = {label: time_to(view, name, label) for label in among if view.runs(name, label)}
        known = {label: time for label, time in times.items() if time is not None}
        if len(known) < 2 or expected not in known:
            return [(name, None)]
        first = min(known, key=known.__getitem__)
        return [(f"{first} is first ({known[first]:.3g} s)", first == expected)]

    return decided(f"{TITLES[name]}: {expected} is the fastest of {', '.join(among)}.", outcomes)


def chosen_sigma(name: str) -> Claim:
    """Our sigma against that with the highest F1 on held-out data."""

    def outcomes(view: View) -> list[Outcome]:
        found = {s: middle(view.values(name, "LBFGS, tuning", "f1", c=0.5 / s**2)) for s in VARIANCES}
        known = {sigma: score for sigma, score in found.items() if score is not None}
        if len(known) < len(VARIANCES):
            return [(name, None)]
        best = max(known, key=known.__getitem__)
        return [
            (f"{name}: sigma {best:g} has {known[best]:.2f}, 1 has {known[1.0]:.2f}", known[best] - known[1.0] <= 0.3)
        ]

    return decided(
        "sigma = 1 is within 0.3 points of the best F1 on held-out data, so that ours is a fair choice.", outcomes
    )


OURS = (
    "Time is CPU time of the solver on one thread; the paper's was Java. sigma is 1 (the paper does not print it); the "
    "study of sigma on held-out data is run by the same command. NER is the Spanish set, whose features S3 we rebuilt."
)
BATCH_LABELS = ("NCG(c=ALL)", "NCG(c=0)", "LBFGS(m=5)", "LBFGS(m=10)", "LBFGS(m=50)")
ON_LINE_LABELS = ("SGD(1/k)", "SGD(alpha^k)", "EG")
ITEMS = (
    *(objective_item(letter, name) for letter, name in zip("abc", SETS, strict=True)),
    *(f1_item(letter, name) for letter, name in zip("def", SETS, strict=True)),
    Item(
        "tsuboi2011/table-2", "Table 2: the fastest methods", "No online method is best in all tasks.",
        (*STUDIES, TUNING),
        claims=(
            *(fastest(name, "NCG(c=ALL)", BATCH_LABELS) for name in SETS),
            fastest(NER, "EG", ON_LINE_LABELS),
            fastest(CHUNKING, "SGD(alpha^k)", ON_LINE_LABELS),
            fastest(QUARTER, "SGD(alpha^k)", ON_LINE_LABELS),
            *(chosen_sigma(name) for name in TUNING.sets),
        ),
        differs=f"Fastest: first to 99.9 % of the best F1 of the set. {OURS}",
    ),
)  # fmt: skip

PAPER = Paper(
    "tsuboi2011",
    "Tsuboi et al. (2011)",
    "Tsuboi, Unno, Kashima & Okazaki (2011), Fast Newton-CG Method for Batch Learning of Conditional Random Fields, "
    "AAAI.",
    "Hessian-vector products that reuse the marginals of the gradient make Newton-CG the fastest batch method, and "
    "competitive with online ones.",
    ITEMS,
    {},
    "In passes L-BFGS is far ahead: to 1e-5 on NER it needs 223 with 50 pairs, where NCG(c=ALL) needs 622. In CPU time "
    "its pairs decide: on NER a pass takes 0.16 s with 50 of them and 0.04 s with 5. With 50, NCG is ahead; with 5, "
    "L-BFGS is ahead of NCG(c=ALL) on all three tasks, with 1 to 46 % less time. The cache saves 4 to 28 % of the time "
    "of NCG(c=0), not half to two thirds: a gradient of ours takes K exponentials per token, theirs took K squared.",
)
