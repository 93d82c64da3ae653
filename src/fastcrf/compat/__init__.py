"""The names of python-crfsuite and sklearn-crfsuite, with fastcrf behind them.

    import fastcrf.compat
    fastcrf.compat.install()        # from here on `import pycrfsuite` and `import sklearn_crfsuite` mean fastcrf

or, without a change of the program, `python -m fastcrf.compat program.py ...`. Without the switch the same modules are
`fastcrf.compat.pycrfsuite` and `fastcrf.compat.sklearn_crfsuite`.
"""

from __future__ import annotations

from fastcrf.compat.switch import install, uninstall

__all__ = ["install", "uninstall"]
