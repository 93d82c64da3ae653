"use strict";
// Scales, ticks and the numbers beside them; interpolation between the points of a curve.

// A scale maps values to pixels and back. Values that a logarithm cannot show are outside.
function makeScale(low, high, from, to, log) {
  const bend = log ? Math.log10 : value => value, unbend = log ? value => 10 ** value : value => value;
  const a = bend(low), span = bend(high) - a || 1;
  return {
    low, high, log, room: Math.abs(to - from),
    at: value => from + (bend(value) - a) / span * (to - from),
    inverse: pixel => unbend(a + (pixel - from) / (to - from) * span),
  };
}

function ticks({ low, high, log, room }, space) {
  const most = Math.max(2, Math.floor(room / space));
  if (log) {
    const found = [], first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const step = Math.max(1, Math.ceil((last - first) / most));
    const within = 3 * (last - first) <= most ? [1, 2, 5] : [1];
    for (let power = first; power <= last; power += step) found.push(...within.map(factor => factor * 10 ** power));
    const seen = found.filter(value => value >= low * 0.999 && value <= high * 1.001);
    if (seen.length > 1) return seen;
  }
  const coarse = (high - low) / most, unit = 10 ** Math.floor(Math.log10(coarse));
  const step = [1, 2, 5, 10].find(factor => factor * unit >= coarse) * unit;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(value);
  return found;
}

function shown(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}

// The value of a curve at an effort within its ends; beyond its last point, the last value.
function valueAt(points, x, log) {
  const after = points.findIndex(point => point[0] >= x);
  if (after <= 0) return after === 0 && points[0][0] === x ? points[0][1] : after < 0 ? points.at(-1)[1] : null;
  const [x0, y0] = points[after - 1], [x1, y1] = points[after], share = (x - x0) / (x1 - x0 || 1);
  return log ? y0 * (y1 / y0) ** share : y0 + (y1 - y0) * share;
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Several seeds as one curve: at each effort the median, the least and the largest value.
function bandOf(runs, log) {
  const first = Math.max(...runs.map(run => run[0][0])), all = runs.flatMap(run => run.map(point => point[0]));
  const efforts = [...new Set(all)].filter(x => x >= first).sort((one, other) => one - other);
  const every = Math.ceil(efforts.length / 300);
  return efforts.filter((_, k) => k % every === 0 || k === efforts.length - 1).map(x => {
    const values = runs.map(run => valueAt(run, x, log)).filter(value => value !== null);
    return [x, median(values), Math.min(...values), Math.max(...values)];
  });
}
