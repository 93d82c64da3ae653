"""`ParsedDump`: the inside of a model, as `Tagger.info` gives it."""

from __future__ import annotations


class ParsedDump:
    """Header, labels and attributes (name: id, as text), and the weights. Weights are exact, not rounded."""

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}
