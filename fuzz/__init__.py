"""The long campaign: hostile inputs by the million, by hand. `python -m fuzz --help` says how.

Every input is a function of (target, seed, number), so that a failure is repeated by its number. An input is handled if
it is accepted, or refused by one sentence; anything else (a crash, another exception, seconds of work, gigabytes of
memory) is a finding.
"""
