"""A report as one web page that works offline: what a model is, how it was trained, where it is right and wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from fastcrf.markup.parts import definitions, matrix, style, table, text_of
from fastcrf.metrics import flat_accuracy_score, segment_scores, sequence_accuracy_score
from fastcrf.model.model import Model
from fastcrf.report.charts import calibration_chart, training_curve
from fastcrf.report.findings import Findings, predict
from fastcrf.report.mistakes import tagged
from fastcrf.report.weights import MOST_LABELS, strongest_attributes, transition_matrix

MOST_CONFUSIONS = 20

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body class="fastcrf">
<h1>{title}</h1>
<p class="note">{made}</p>
<nav>{links}</nav>
{sections}
</body>
</html>
"""


def report_page(
    model: Model,
    X: Iterable[Any],
    y: Iterable[Sequence[Any]],
    *,
    title: str = "Report",
    made: str = "",
    facts: Sequence[tuple[str, str]] = (),
    top: int = 10,
    mistakes: int = 50,
) -> str:
    """Return the page of a model on labeled sequences.

    title: the headline; made: by what and when, the line below it;
    facts: names and values for the model card, such as files;
    top: number of attributes per label; mistakes: number of sequences with wrong labels.
    """
    found = predict(model, list(X), [list(labels) for labels in y])
    sections = {
        "Scores": scores(found),
        "Model": card(model, facts),
        "Training": training(model),
        "Labels": label_table(found),
        "Segments": segment_table(found),
        "Confusions": confusions(found),
        "Calibration": calibration(found),
        "Transitions": f"<p class='note'>Weights of pairs of neighboring labels.</p>{transition_matrix(model)}",
        "Attributes": f"<div class='attributes'>{strongest_attributes(model, top)}</div>",
        "Mistakes": worst(found, mistakes),
    }
    shown = {name: content for name, content in sections.items() if content}
    return PAGE.format(
        title=text_of(title),
        style=style() + files("fastcrf.report").joinpath("page.css").read_text("utf-8"),
        made=text_of(made),
        links=" ".join(f'<a href="#{name.lower()}">{name}</a>' for name in shown),
        sections="\n".join(
            f'<section id="{name.lower()}"><h2>{name}</h2>\n{content}\n</section>' for name, content in shown.items()
        ),
    )


def scores(found: Findings) -> str:
    """Return the main scores as tiles."""
    overall = segment_scores(found.true, found.predicted).overall
    tiles = {
        "token accuracy": f"{flat_accuracy_score(found.true, found.predicted):.2%}",
        "segment F1": f"{overall.f1:.2%}",
        "sequences without a mistake": f"{sequence_accuracy_score(found.true, found.predicted):.2%}",
        "tokens": f"{sum(map(len, found.true)):,}",
        "sequences": f"{len(found.true):,}",
    }
    return "".join(f'<div class="tile"><b>{value}</b>{name}</div>' for name, value in tiles.items())


def card(model: Model, facts: Sequence[tuple[str, str]]) -> str:
    """Return what the model is, and the parameters that it was trained with."""
    parameters = model.options.get("parameters", {})
    return definitions(
        [
            *facts,
            ("labels", ", ".join(map(str, model.labels))),
            ("attributes, weights", f"{len(model.attributes):,}, {len(model.weights):,}"),
            ("order of the chain", str(model.features.order)),
            ("parameters", ", ".join(f"{name}={value}" for name, value in parameters.items())),
        ]
    )


def training(model: Model) -> str:
    """Return how training ended and its curve, as far as the model file holds them."""
    outcome = model.options.get("training", {})
    if not outcome:
        return "<p>The model file does not record its training.</p>"
    gap = outcome.get("relative_gap")
    facts = definitions(
        [
            ("end", str(outcome.get("stop_reason", ""))),
            ("objective", f"{outcome['objective']:,.4f}" if "objective" in outcome else ""),
            ("certificate", f"within {gap:.2g} of the optimum (relative)" if gap is not None and gap <= 1.0 else ""),
            ("passes over the data", f"{outcome['passes']:.6g}" if "passes" in outcome else ""),
        ]
    )
    points = [(passes, gap) for passes, gap in outcome.get("curve", []) if passes > 0 and gap and gap > 0]
    return facts + (f"<figure>{training_curve(points)}</figure>" if len(points) > 1 else "")


def label_table(found: Findings) -> str:
    rows = [
        (text_of(score.label), f"{score.precision:.2%}", f"{score.recall:.2%}", f"{score.f1:.2%}", f"{score.n_true:,}")
        for score in found.label_scores()
    ]
    return table(("label", "precision", "recall", "F1", "tokens"), rows)


def segment_table(found: Findings) -> str:
    """Return the scores of segments by type, as conlleval counts them."""
    measured = segment_scores(found.true, found.predicted)
    kinds = sorted(measured.by_type.items(), key=lambda pair: -pair[1].n_true)
    rows = [
        (text_of(kind), f"{score.precision:.2%}", f"{score.recall:.2%}", f"{score.f1:.2%}", f"{score.n_true:,}",
         f"{score.n_predicted:,}")
        for kind, score in [*kinds, ("all", measured.overall)]
    ]  # fmt: skip
    return table(("type", "precision", "recall", "F1", "true segments", "predicted"), rows)


def confusions(found: Findings) -> str:
    """Return the pairs of labels that are confused most, and with few labels the whole matrix."""
    pairs = found.confusions()
    wrong = [(pair, n) for pair, n in pairs.most_common() if pair[0] != pair[1]]
    labels = [score.label for score in found.label_scores()]
    whole = ""
    if len(labels) <= MOST_LABELS:
        cells = [[float(pairs[truth, guess]) if truth != guess else 0.0 for guess in labels] for truth in labels]
        whole = matrix(labels, cells, "true \\ predicted", 0)
    rows = [(text_of(truth), text_of(guess), f"{n:,}") for (truth, guess), n in wrong[:MOST_CONFUSIONS]]
    frequent = table(("true label", "predicted", "tokens"), rows, "the most frequent confusions") if rows else ""
    return f"<p class='note'>Number of tokens with a wrong label.</p>{whole}{frequent}" if wrong else ""


def calibration(found: Findings) -> str:
    """Return how probabilities compare with accuracy."""
    measured = found.calibration()
    if not len(measured.counts):
        return ""
    note = (
        f"Expected calibration error: {measured.error:.2%}. Where the line is below the diagonal, fewer "
        "labels are right than their probabilities say."
    )
    return f"<p>{note}</p><figure>{calibration_chart(measured)}</figure>"


def worst(found: Findings, most: int) -> str:
    """Return sequences with wrong labels."""
    mistakes = found.mistakes(most)
    if not mistakes:
        return "<p>Every label is right.</p>"
    n_wrong = sum(a != b for a, b in zip(found.true, found.predicted, strict=True))
    note = (
        f"{n_wrong:,} of {len(found.true):,} sequences have a wrong label. These are the {len(mistakes):,} with the "
        "most probable wrong labels. At each wrong token: the predicted label, crossed out, its probability, and the "
        "true label."
    )
    return f"<p class='note'>{note}</p>" + "\n".join(map(tagged, mistakes))
