"""The loop of SAG and its relatives: schmidt2015, Algorithm 1, for blocks of sequences (of one, unless asked for more).

With g_i the stored gradient of block i, d = sum_i g_i, m the number of sequences in d, lambda in the mean scale:

    draw i;  g = grad nll_i(w);  D = g - g_i;  g_i <- g_i + growth D;  d <- d + growth D
    L_i by Algorithm 2 (lipschitz_search.py);  a = step size from the L's
    w <- (1 - a lambda) w - a [ d_before / m + (1 - correction) growth D / m + correction D / (n p_i) ]

Draws, L's and step size follow a scheme (scheme.py); p_i is the probability of the draw.

    growth 1, correction 0    SAG: w moves along the new d
    growth 1, correction 1    SAGA: the step has the right mean whatever the p_i
    growth 0, correction 1    SVRG: the g_i and d stay until the next snapshot

What is stored of g_i says draws/stored_gradients.py; how d / m moves all weights at once, draws/lazy_vector.py.
"""

from __future__ import annotations

from fastcrf.chain.blocks import collect_change, copy_rows
from fastcrf.chain.expectations import score_block
from fastcrf.draws.evaluation import ENTROPY, LOSS, infer_current, score_current
from fastcrf.draws.lazy_vector import advance, turn
from fastcrf.draws.local_change import mask_change
from fastcrf.draws.stored_gradients import exchange, recursions
from fastcrf.kernel import borrowing_kernel, standing_kernel
from fastcrf.solvers.average_gradient.lipschitz_search import search_lipschitz
from fastcrf.solvers.average_gradient.scheme import begin_visit, draw, end_visit, fade, step_size

FLAT = 1e-8  # squared gradient norm below which a search would only measure rounding (Algorithm 1, line 12)


@borrowing_kernel
def average_gradient_draws(
    blocks, uniforms, lam, growth, correction, vector, gradients, figures, scheme, covered, space, direction, lanes
):
    """One draw per uniform; the number of forward(-backward) recursions. Writes: all state."""
    bounds, H, evaluations = blocks.chains.bounds, blocks.layout.n_histories, 0
    n = len(blocks.chains.starts) - 1
    for u in uniforms:
        i, p = draw(scheme, u, lam)  # line 4
        loss, entropy, trials, new = visit(blocks, i, growth, vector, gradients, scheme, space, direction, lanes)
        size = bounds[i + 1] - bounds[i]
        evaluations += size * (1 + trials + recursions(gradients))
        figures[i, LOSS] = loss
        if growth > 0.0:
            figures[i, ENTROPY] = entropy
        if new:
            covered[0] = min(covered[0] + size, n)  # line 7
        a, m = step_size(scheme, lam), covered[0]  # line 15
        shrink = 1.0 - a * lam
        step = correction * (1.0 / (n * p) - growth / m) * a / shrink  # `advance` is going to apply growth / m of it
        turn(vector, blocks.support, i, growth, step, gradients.change, gradients.edge_change, H, lanes)  # line 10
        advance(vector, shrink, a / m, lanes)  # line 16
        if trials > 0:  # where gradients are flat, L would fade without end
            fade(scheme, i)  # line 17
    return evaluations


@borrowing_kernel
def visit(blocks, i, growth, vector, gradients, scheme, space, direction, lanes):
    """Evaluate block i: its change goes to the stored gradients, its L to the scheme (Algorithm 1, lines 5 to 14).

    (loss, entropy, trials of the search, whether i is new). Writes: all state but w and d.
    """
    edges = score_current(blocks, i, vector, space, lanes)
    searching, L, down = begin_visit(scheme, i)
    loss, entropy = infer_current(blocks, i, edges, space, direction.scores, lanes)
    exchange(gradients, blocks, i, growth, space, lanes)
    trials = 0
    if searching:
        L, trials = search_block(blocks, i, loss, L, down, edges.scores, space, direction, lanes)
    return loss, entropy, trials, end_visit(scheme, i, L, trials)


@standing_kernel
def search_block(blocks, i, loss, L, down, edge_scores, space, direction, lanes):
    """(L of block i by Algorithm 2, trials); space holds its residuals, direction its scores.

    f_i is the mean over the block, but losses and gradients here are sums: their L is `size` times as large.
    Writes: space, direction.
    """
    local, support, bounds, layout = blocks.local, blocks.support, blocks.chains.bounds, blocks.layout
    size = bounds[i + 1] - bounds[i]
    collect_change(local, bounds, support, i, space.lattice.scores, space.change, lanes)
    square = mask_change(support, i, space.change, space.edge_sums, layout.n_histories, lanes)
    if square <= FLAT * size * size:
        return L, 0
    score_block(local, space.change, direction.bias, bounds[i], bounds[i + 1], direction.slopes, lanes)
    copy_rows(space.edge_sums, direction.edge_slopes, layout.n_histories, lanes)
    found, trials = search_lipschitz(
        blocks.chains, i, loss, square, L * size, down, direction, edge_scores, space.lattice, layout.n_labels, lanes
    )
    return found / size, trials
