"""The color of each solver in figures: the same on every page, wherever a solver is drawn."""

from __future__ import annotations

import colorsys
import hashlib

COLORS = {
    "auto": "#1f6feb", "crfsuite": "#b0413e", "crf++": "#2f9e62", "wapiti": "#8f6fd6",
    "lbfgs": "#e08a00", "owlqn": "#e08a00", "prox-lbfgs": "#a65628",
    "sgd": "#2ca02c", "l2sgd": "#0f9f8f", "asg": "#17becf", "adagrad": "#8ab825", "smd": "#bcbd22", "psa": "#ff7f50",
    "sag": "#e377c2", "sag-nus": "#c2529e", "sag-nus-star": "#9b3fd1", "prox-saga": "#c2529e", "prox-svrg": "#7a6ff0",
    "newton-cg": "#7f7f7f", "newton-l1": "#7f7f7f", "oeg": "#9467bd", "sdca": "#d6336c",
}  # fmt: skip
LIGHTNESS, SATURATION = 0.48, 0.6  # of the others: readable on white and on black


def color_of(label: str) -> str:
    """Return the color of a solver as `#rrggbb`. Options after the name do not change it: `sgd:batch_size=10`."""
    name = label.partition(":")[0]
    return COLORS.get(name) or other_color(name)


def other_color(name: str) -> str:
    """Return a color with a hue that depends on the name alone."""
    hue = int.from_bytes(hashlib.sha256(name.encode()).digest()[:2]) / 2**16
    red, green, blue = colorsys.hls_to_rgb(hue, LIGHTNESS, SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))


def repeats(labels: list[str]) -> list[int]:
    """Return for each label how many before it have the same color: the number of its pattern of dashes."""
    colors = [color_of(label) for label in labels]
    return [colors[:k].count(color) for k, color in enumerate(colors)]
