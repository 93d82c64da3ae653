"""How fast each solver comes near the optimum: schmidt2015's setting, lambda = 1/n, on CoNLL-2000 and the OCR letters.

    python benchmarks/convergence.py [--data DIR] [--cache DIR] [--figure curves.html] [--passes 50] [--repeat 1]
                                     [--sets conll2000,ocr-letters] [--penalties l2,l1+l2] [--jobs 1] [--check]

Two experiments: c2 = 0.5, which is lambda = 1/n (owlqn needs an L1 penalty, and says so), and the same with c1 = 1, for
solvers of sparse models. Killed, it goes on from where it was; repeated, it trains nothing. --check evaluates the saved
weights of every run anew and compares with its last row. Run it on an otherwise idle machine.

The dependence on lambda:

    python benchmarks/convergence.py --lambdas 10,1,0.1,0.01,0.001,0 --solvers lbfgs,sag-nus-star --passes 200

The figures of schmidt2015 are run by `fastcrf papers run schmidt2015`.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

import corpora

from fastcrf.cli.options.solver_options import read_solver
from fastcrf.lab.drawing.figures import check_figure, save_figure
from fastcrf.lab.experiment import Experiment, Penalty
from fastcrf.lab.limits import Limits
from fastcrf.lab.named_datasets import NAMED_DATASETS
from fastcrf.lab.runner import Watcher, run_experiment
from fastcrf.lab.store import Rows, Store, as_lines
from fastcrf.lab.summary import compare
from fastcrf.lab.tables import in_words
from fastcrf.system.atomic_write import replace_file
from fastcrf.system.cache_folder import lab_folder

SOLVERS = ("lbfgs", "owlqn", "sgd", "l2sgd", "sag", "sag-nus-star")
PENALTIES = {"l2": Penalty(0.0, 0.5), "l1+l2": Penalty(1.0, 0.5), "l1": Penalty(1.0, 0.0)}
AGREEMENT = 1e-9


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def largest_disagreement(experiment: Experiment, rows: Rows, store: Store) -> float:
    """The largest relative difference between the end of a run and a fresh evaluation of the weights that it left."""
    worst = 0.0
    for objective in experiment.objectives():
        problem = objective.problem(n_jobs=1)
        for run in {row["run"] for row in rows if row["objective_key"] == objective.key and row["step"] is not None}:
            weights, last = store.weights(run), store.rows(run)[-1]
            assert weights is not None, f"the weights of {run} are missing"
            worst = max(worst, abs(problem.value(weights) / last["objective"] - 1.0))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--cache", default=lab_folder(), help="where runs are kept (default: the user's cache)")
    parser.add_argument(
        "--sets", default="conll2000,ocr-letters", help="names, with commas between; digits, addresses too"
    )
    parser.add_argument("--penalties", default="l2,l1+l2", help="of l2, l1+l2 and l1, with commas between")
    parser.add_argument(
        "--lambdas", help="instead of penalties: L2, in the papers' lambda times n, with commas between"
    )
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="names, with options (sgd:batch_size=10)")
    parser.add_argument("--passes", type=float, default=50.0, help="limit of effective passes")
    parser.add_argument("--seconds", type=float, help="limit of seconds in a solver")
    parser.add_argument("--tol", type=float, default=1e-6, help="certified relative gap at which a run ends")
    parser.add_argument("--repeat", type=int, default=1, help="seeds of solvers that draw")
    parser.add_argument("--no-error", action="store_true", help="do not score held-out data at each step")
    parser.add_argument("--jobs", type=int, default=1, help="threads of batch solvers")
    parser.add_argument("--figure", help="a file that ends in .png, .svg, .pdf or .html")
    parser.add_argument("--rows", help="a file for every row, as JSON lines")
    parser.add_argument("--check", action="store_true", help="evaluate the saved weights anew")
    arguments = parser.parse_args()
    if arguments.figure:
        check_figure(arguments.figure)
    names = arguments.sets.split(",")
    if not set(names) <= {"digits", "addresses"}:
        os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    datasets = [NAMED_DATASETS[name]() for name in names]
    penalties = [PENALTIES[name] for name in arguments.penalties.split(",")]
    if arguments.lambdas:
        penalties = [Penalty(0.0, 0.5 * float(lam)) for lam in arguments.lambdas.split(",")]
    experiment = Experiment(
        [replace(dataset, held_out=None) if arguments.no_error else dataset for dataset in datasets],
        penalties,
        dict(read_solver(text) for text in arguments.solvers.split(",")),
        range(arguments.repeat),
        Limits(arguments.tol, arguments.passes, arguments.seconds),
        arguments.jobs,
    )
    store = Store(arguments.cache)
    rows = run_experiment(experiment, store, Watcher(say))
    print("\n\n\n".join(in_words(comparison) for comparison in compare(rows)))
    if arguments.rows:
        replace_file(arguments.rows, as_lines(rows).encode())
    if arguments.figure:
        save_figure(rows, arguments.figure)
    if arguments.check:
        worst = largest_disagreement(experiment, rows, store)
        print(f"\nlast objectives and fresh evaluations of the saved weights agree to {worst:.1e}")
        if worst > AGREEMENT:
            raise SystemExit(f"They should agree to {AGREEMENT:g}.")


if __name__ == "__main__":
    main()
