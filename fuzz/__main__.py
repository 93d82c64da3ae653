"""python -m fuzz --minutes 60"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time

from fuzz.campaign import HEAD, attack


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Hostile inputs until the time is up.")
    parser.add_argument("--minutes", type=float, default=1.0, help="for all targets together")
    parser.add_argument("--inputs", type=int, default=10**9, help="limit for each target")
    parser.add_argument("--target", action="append", help="attack this one only; may be repeated")
    parser.add_argument("--seed", type=int, default=None, help="of the inputs; any by default")
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to repeat a finding")
    parser.add_argument("--no-bounds-checks", action="store_true", help="kernels as users run them")
    parser.add_argument(
        "--guided", action="store_true", help="coverage-guided (pip install atheris), text targets only"
    )
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    if options.guided:
        from fuzz.guided import GUIDED, fuzz_guided

        return fuzz_guided(options.target or list(GUIDED), options.minutes, seed)
    return plain(options, seed)


def plain(options: argparse.Namespace, seed: int) -> int:
    """Mutations, target after target."""
    from fuzz.targets import TARGETS

    targets = options.target or list(TARGETS)
    end = time.monotonic() + 60 * options.minutes
    print(f"seed {seed}, bounds checks {'off' if options.no_bounds_checks else 'on'}\n{HEAD}", flush=True)
    findings, inputs = [], 0
    for done, target in enumerate(targets):
        seconds = (end - time.monotonic()) / (len(targets) - done)
        tally = attack(target, seed, options.first, options.inputs, seconds, not options.no_bounds_checks)
        print(tally.line(), *kinds(tally.findings), sep="\n", flush=True)
        findings += tally.findings
        inputs += tally.inputs
    print(f"{inputs:,} inputs, {len(findings):,} findings")
    return 1 if findings else 0


def kinds(findings: list[str]) -> list[str]:
    """One finding of each kind (those that differ in numbers only are of one kind), and how many there are."""
    found: dict[str, list[str]] = {}
    for finding in findings:
        found.setdefault(re.sub(r"[0-9]+", "#", finding), []).append(finding)
    return [f"{each[0]} ({len(each):,} of this kind)" for each in found.values()]


if __name__ == "__main__":
    sys.exit(main())
