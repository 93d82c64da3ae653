"""What a notebook shows of a trained CRF: labels, certificate, strongest attributes and transitions."""

from __future__ import annotations

from fastcrf.markup.parts import definitions, style
from fastcrf.model.model import Model
from fastcrf.report.weights import strongest_attributes, transition_matrix

TOP = 5  # attributes of a label
SUMMARY = """<div class="fastcrf"><style>{style}</style>
{facts}
<details><summary>Strongest attributes of each label</summary><div class="attributes">{attributes}</div></details>
<details><summary>Transition weights</summary>{transitions}</details>
</div>"""


def summary_html(model: Model, certificate: str = "") -> str:
    """Return a fragment of HTML about a model; `certificate` is that of the fit, if there was one here."""
    facts = [
        ("labels", ", ".join(map(str, model.labels))),
        ("attributes, weights", f"{len(model.attributes):,}, {len(model.weights):,}"),
        ("certificate", certificate),
    ]
    return SUMMARY.format(
        style=style(),
        facts=definitions(facts),
        attributes=strongest_attributes(model, TOP),
        transitions=transition_matrix(model),
    )
