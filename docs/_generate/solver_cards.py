"""A card for each solver, and their table, from the registry and the files of the solvers."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from _generate.markdown import block, escaped, table, write_folder
from _generate.repository_files import HOME
from fastcrf.solvers import registry
from fastcrf.solvers.declaration import entries_of

PENALTY = {"none": "none", "l1": "L1", "l2": "L2", "l1+l2": "L1+L2"}
FAMILIES = {  # package: (name, page)
    "auto": ("default", "how-to/solver"),
    "quasi_newton": ("quasi-Newton", "explanation/second-order"),
    "newton": ("Newton", "explanation/second-order"),
    "batch": ("batch gradient", "explanation/second-order"),
    "sag": ("SAG, SAGA, SVRG", "explanation/sag-family"),
    "sgd": ("stochastic gradient", "explanation/sparse"),
    "sgd.ngd": ("natural gradient", "explanation/margin"),
    "online": ("online", "how-to/stream"),
    "dual": ("dual", "explanation/dual"),
    "margin": ("mistake-driven", "explanation/margin"),
    "iterative_scaling": ("iterative scaling", "explanation/iterative-scaling"),
}
FILTER = """<form id="solver-filter" hidden>
<label>Search <input name="words" type="search" placeholder="name, paper, family"></label>
<label>Tier <select name="tier"><option value="">all</option><option>core</option><option>laboratory</option>
</select></label>
<label>Penalty <select name="penalty"><option value="">all</option><option>none</option><option>L1</option>
<option>L2</option><option>L1+L2</option></select></label>
<output id="solver-count"></output>
</form>"""


class Sections(NamedTuple):
    """The parts of a solver module's docstring."""

    title: str
    paper: str
    objective: list[str]
    algorithm: list[str]  # pseudo-code, and the text before and between
    notes: list[str]
    differences: list[str]


def write_pages(folder: Path) -> None:
    """Write a card for each name, and the table of all."""
    cards = {f"{name}.md": card(name) for name in registry.names()}
    write_folder(folder, {"index.md": index(), **cards})


def sections_of(documentation: str) -> Sections:
    """Divide a docstring: title, paper, objective, pseudo-code (indented), notes, differences from the paper."""
    title, paper, *rest = re.split(r"\n[ ]*\n", inspect.cleandoc(documentation))
    objective = [text for text in rest if text.startswith("Minimizes ")]
    differences = [text for text in rest if text.startswith("Differs from ")]
    others = [text for text in rest if text not in objective and text not in differences]
    end = max((k + 1 for k, text in enumerate(others) if text.startswith(" ")), default=0)
    return Sections(" ".join(title.split()), paper, objective, others[:end], others[end:], differences)


def family_of(module: str) -> tuple[str, str]:
    """Return name and page of a solver's family."""
    package = module.removeprefix("fastcrf.solvers.").rpartition(".")[0]
    while package not in FAMILIES:
        package = package.rpartition(".")[0]
    return FAMILIES[package]


def card(name: str) -> str:
    line, facts = registry.REGISTRY[name], registry.describe(name)
    parts = sections_of(import_module(line.module).__doc__ or "")
    return "\n\n".join(
        [
            f"# {name}",
            escaped(parts.title),
            block(use(name), "python"),
            block(f"fastcrf train train.txt -m model.crf -a {name}{shell_penalty(facts)}", "sh"),
            facts_of(name, facts),
            *section("Paper", [escaped(parts.paper)]),
            *section("Objective", [block(formula(text)) for text in parts.objective]),
            *section("Algorithm", [step(text) for text in parts.algorithm]),
            *section("Options", options_of(name)),
            *section("Notes", [escaped(text) for text in parts.notes]),
            *(text for difference in parts.differences for text in difference_of(difference)),
        ]
    )  # fmt: skip


def step(paragraph: str) -> str:
    """Return pseudo-code as a block, and text as text."""
    return block(textwrap.dedent(paragraph)) if paragraph.startswith(" ") else escaped(paragraph)


def difference_of(paragraph: str) -> list[str]:
    """Return a section from "Differs from the paper: ..."."""
    title, _, text = paragraph.partition(":")
    text = " ".join(text.split())
    return section(escaped(title), [escaped(text[:1].upper() + text[1:])])


def formula(paragraph: str) -> str:
    """Return what is minimized, with each equation on a line of its own."""
    return re.sub(r",?\s{3,}", "\n", re.sub(r"^Minimizes\s+", "", paragraph))


def section(title: str, texts: list[str]) -> list[str]:
    return [f"## {title}", *texts] if any(texts) else []


def use(name: str) -> str:
    """Return the Python that trains with a solver: by its class, or by its name where it is a preset."""
    line, penalty = registry.REGISTRY[name], registry.default_penalty(registry.make(name))
    given = "" if penalty == (0.0, 1.0) else f", c1={penalty[0]}, c2={penalty[1]}"
    if is_main(name):
        return (
            f"from fastcrf import CRF\nfrom fastcrf.solvers import {line.attribute}\n\n"
            f"crf = CRF({line.attribute}(){given})"
        )
    return f'from fastcrf import CRF\n\ncrf = CRF("{name}"{given})'


def shell_penalty(facts: dict[str, Any]) -> str:
    """Return the options for a solver that does not handle an L2 penalty alone."""
    if "l2" in facts["penalties"]:
        return ""
    return " --c1 1 --c2 0" if "l1" in facts["penalties"] else " --c2 0"


def is_main(name: str) -> bool:
    """Return whether a name is the first without options for its class."""
    line = registry.REGISTRY[name]
    return name == next(n for n, other in registry.REGISTRY.items() if other.attribute == line.attribute)


def facts_of(name: str, facts: dict[str, Any]) -> str:
    line = registry.REGISTRY[name]
    family, page = family_of(line.module)
    source = line.module.replace(".", "/")
    others = [n for n, other in registry.REGISTRY.items() if other.attribute == line.attribute and n != name]
    rows = {
        "Class": f"`fastcrf.solvers.{line.attribute}`",
        "Tier": f"{facts['tier']}: {registry.TIERS[facts['tier']]}",
        "Family": f"[{family}](../../{page}.md)",
        "Penalties": ", ".join(PENALTY[penalty] for penalty in facts["penalties"]),
        "Converges to": guarantee(facts["guarantee"]),
        "Streams": "yes, with `partial_fit`" if getattr(registry.solver_class(name), "streams", False) else "no",
        "Preset": ", ".join(f"`{option}={value!r}`" for option, value in line.options.items()),
        "Same class": ", ".join(f"[{other}]({other}.md)" for other in others),
        "Source": f"[`{source}.py`]({HOME}/blob/main/src/{source}.py)",
    }
    return ":::{div} facts\n" + "\n".join(f"{title}\n: {text}\n" for title, text in rows.items() if text) + ":::"


def guarantee(text: str) -> str:
    return {"no objective": "no optimum: it does not minimize F"}.get(
        text, text if text.startswith("near") else f"the {text}"
    )


def options_of(name: str) -> list[str]:
    """Return a definition for each option: type, default and meaning."""
    cls, values = registry.solver_class(name), registry.options_of(name)
    meanings = dict(entries_of(cls.__doc__ or ""))
    return [
        f"`{field.name}` : {escaped(str(field.type))}, default `{values[field.name]!r}`\n"
        f": {escaped(meanings.get(field.name, '')) or 'See the source.'}"
        for field in dataclasses.fields(cls)
    ]


def index() -> str:
    """Return the table of all solvers, core ones first."""
    rows = []
    for name in sorted(registry.names(), key=lambda name: registry.tier_of(name)):
        facts, line = registry.describe(name), registry.REGISTRY[name]
        title = sections_of(import_module(line.module).__doc__ or "").title.rstrip(".")
        penalties = ", ".join(PENALTY[penalty] for penalty in facts["penalties"])
        rows.append([f"[{name}]({name}.md)", escaped(title), facts["tier"], penalties, family_of(line.module)[0]])
    body = table(rows, ["Name", "Method", "Tier", "Penalties", "Family"])
    tree = "\n".join(registry.names())
    return (
        "# Solvers\n\n`CRF()` trains with [auto](auto.md). "
        "[Choose a solver](/how-to/solver.md) says when another one is better. "
        "The tier core is for training models; the laboratory has published algorithms, to be read and compared.\n\n"
        f"```{{raw}} html\n{FILTER}\n```\n\n:::{{rst-class}} solvers\n:::\n{body}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )
