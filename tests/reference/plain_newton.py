"""Newton methods with whole matrices, written from the papers."""

from __future__ import annotations

import numpy as np


def trust_region_newton(problem, w, n_steps, forcing=0.1):
    """Lin, Weng & Keerthi (2008), algorithms 1 and 2, with the constants of their section 2.3. Returns the iterates."""
    eta0, eta1, eta2, sigma1, sigma2, sigma3 = 1e-4, 0.25, 0.75, 0.25, 0.5, 4.0
    f, g = problem.gradient(w)
    radius, iterates = np.linalg.norm(g), [w]
    for k in range(n_steps):
        H = problem.hessian(w)
        s, hit = inner_cg(H, g, radius, forcing * np.linalg.norm(g))
        f_new, g_new = problem.gradient(w + s)
        slope, model = g @ s, -(g @ s + 0.5 * s @ H @ s)
        actual, length = f - f_new, np.linalg.norm(s)
        if k == 0:
            radius = min(radius, length)
        bend = f_new - f - slope
        alpha = sigma3 if bend <= 0 else max(sigma1, -0.5 * slope / bend)
        if actual < eta0 * model:
            radius = min(max(alpha, sigma1) * length, sigma2 * radius)
        elif actual < eta1 * model:
            radius = max(sigma1 * radius, min(alpha * length, sigma2 * radius))
        elif actual < eta2 * model:
            radius = max(sigma1 * radius, min(alpha * length, sigma3 * radius))
        elif hit:
            radius = sigma3 * radius
        else:
            radius = max(radius, min(alpha * length, sigma3 * radius))
        if actual > eta0 * model:
            w, f, g = w + s, f_new, g_new
        iterates.append(w)
    return iterates


def line_search_newton(problem, w, n_steps, forcing=0.1):
    """Newton-CG with backtracking: the first of s, s/2, s/4, ... that gains 1e-4 of what the slope predicts."""
    f, g = problem.gradient(w)
    iterates = [w]
    for _ in range(n_steps):
        s, _ = inner_cg(problem.hessian(w), g, np.inf, forcing * np.linalg.norm(g))
        t = 1.0
        while problem.gradient(w + t * s)[0] > f + 1e-4 * t * (g @ s):
            t /= 2
        w = w + t * s
        f, g = problem.gradient(w)
        iterates.append(w)
    return iterates


def inner_cg(H, g, radius, tolerance):
    """Steihaug (1983): (the step, whether it ends at the boundary)."""
    s, r = np.zeros_like(g), -g
    d = r
    while np.linalg.norm(r) > tolerance:
        a = (r @ r) / (d @ H @ d)
        if np.linalg.norm(s + a * d) > radius:
            roots = np.roots([d @ d, 2.0 * (s @ d), s @ s - radius**2])
            return s + max(roots.real) * d, True
        s, r_new = s + a * d, r - a * (H @ d)
        d, r = r_new + (r_new @ r_new) / (r @ r) * d, r_new
    return s, False


def proximal_quasi_newton(problem, w, n_steps, pairs=20, sweeps=10, tolerance=0.05, floor=0.05):
    """Zhong, Yen, Dhillon & Ravikumar (2014) with B as a matrix, BFGS updates of a diagonal. Returns the iterates."""
    c1, kept, iterates = problem.c1, [], [w]
    smooth, g = problem.gradient(w)
    for _ in range(n_steps):
        value = smooth + c1 * np.abs(w).sum()
        shortest = np.where(w != 0, g + c1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - c1, 0.0))
        D = np.sqrt(np.maximum(problem.variance_bounds(w, g), floor))
        if kept:
            s, y = kept[-1]
            D = D * (y @ (y / D)) / (s @ y)
        else:
            D = D * np.linalg.norm(shortest / np.sqrt(D))
        B = np.diag(D)
        for s, y in kept:
            B = B - np.outer(B @ s, B @ s) / (s @ B @ s) + np.outer(y, y) / (y @ s)
        d = coordinate_descent(B, g, w, c1, np.flatnonzero((w != 0) | (shortest != 0)), sweeps, tolerance)
        slope, t = g @ d + c1 * (np.abs(w + d).sum() - np.abs(w).sum()), 1.0
        while True:
            smooth_new, g_new = problem.gradient(w + t * d)
            if smooth_new + c1 * np.abs(w + t * d).sum() <= value + 1e-4 * t * slope:
                break
            t /= 2.0
        kept = [*kept, (t * d, g_new - g)][-pairs:]
        w, smooth, g = w + t * d, smooth_new, g_new
        iterates.append(w)
    return iterates


def coordinate_descent(B, g, w, c1, free, sweeps, tolerance):
    """argmin_d  g.d + d.B d / 2 + c1 |w + d|_1 over the free coordinates, about; those that stay at 0 are left out."""
    d, first = np.zeros_like(w), None
    for _ in range(sweeps):
        moved, swept, free = 0.0, free, []
        for j in swept:
            z = w[j] + d[j]
            target = z - (g[j] + B[j] @ d) / B[j, j]
            new = np.sign(target) * max(abs(target) - c1 / B[j, j], 0.0)
            moved += abs(new - z) * B[j, j]
            d[j] += new - z
            free += [j] if new != 0.0 or new != z else []
        first = moved if first is None else first
        if moved <= tolerance * first:
            break
    return d
