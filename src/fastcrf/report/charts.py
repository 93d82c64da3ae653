"""The charts of a report, as SVG: the training curve and the calibration of probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fastcrf.report.findings import Calibration

WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 44
SVG = '<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{content}</svg>'

Point = tuple[float, float]
Span = tuple[float, float]


def training_curve(points: Sequence[Point]) -> str:
    """Draw the certified relative gap, on a logarithmic axis, against passes over the data."""
    unit = round_number(max(x for x, _ in points) / 4)
    x_range, y_range = (0.0, math.ceil(max(x for x, _ in points) / unit) * unit), decades(y for _, y in points)
    placed = [(across(x, x_range), up(math.log10(y), y_range)) for x, y in points]
    return svg("Certified relative gap against passes over the data", [
        *(tick_x(across(k * unit, x_range), f"{k * unit:g}") for k in range(round(x_range[1] / unit) + 1)),
        *(tick_y(up(k, y_range), power_of_ten(k)) for k in powers(y_range)),
        polyline(placed), *axis_names("passes over the data", "certified relative gap"),
    ])  # fmt: skip


def calibration_chart(calibration: Calibration) -> str:
    """Draw the accuracy of predicted labels against their probability; the diagonal is perfect calibration."""
    unit, ticks = (0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    placed = [(across(x, unit), up(y, unit)) for x, y in zip(calibration.confidence, calibration.accuracy, strict=True)]
    diagonal = f'<line class="diagonal" x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - RIGHT}" y2="{TOP}"/>'
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{int(n):,} tokens</title></circle>'
        for (x, y), n in zip(placed, calibration.counts, strict=True)
    ]
    return svg("Accuracy of predicted labels against their probability", [
        *(tick_x(across(value, unit), f"{value:.1f}") for value in ticks),
        *(tick_y(up(value, unit), f"{value:.1f}") for value in ticks),
        diagonal, polyline(placed), *dots, *axis_names("probability of the predicted label", "share that is right"),
    ])  # fmt: skip


def svg(label: str, parts: list[str]) -> str:
    return SVG.format(width=WIDTH, height=HEIGHT, label=label, content="".join(parts))


def decades(values: Iterable[float]) -> Span:
    """Return the exponents of the powers of ten around positive values."""
    exponents = [math.log10(value) for value in values]
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    return float(low), float(max(high, low + 1))


def round_number(value: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, 50 ... (and their tenths) that is at least as large."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= value * (1 - 1e-9))


def powers(span: Span) -> range:
    """Return the exponents to label, at most about eight."""
    low, high = int(span[0]), int(span[1])
    return range(low, high + 1, max(1, math.ceil((high - low) / 8)))


def across(value: float, span: Span) -> float:
    return LEFT + (value - span[0]) / (span[1] - span[0]) * (WIDTH - LEFT - RIGHT)


def up(value: float, span: Span) -> float:
    return HEIGHT - BOTTOM - (value - span[0]) / (span[1] - span[0]) * (HEIGHT - TOP - BOTTOM)


def power_of_ten(exponent: int) -> str:
    return f"1e{exponent}" if abs(exponent) > 2 else f"{10.0**exponent:g}"


def tick_x(x: float, text: str) -> str:
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
    return f'{line}<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{text}</text>'


def tick_y(y: float, text: str) -> str:
    line = f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return f'{line}<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'


def polyline(points: Sequence[Point]) -> str:
    return f'<polyline class="curve" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def axis_names(x: str, y: str) -> list[str]:
    middle_x, middle_y = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 14 {middle_y})"'
    return [
        f'<text class="name" x="{middle_x}" y="{HEIGHT - 8}" text-anchor="middle">{x}</text>',
        f'<text class="name" x="14" y="{middle_y}" text-anchor="middle" {turned}>{y}</text>',
    ]
