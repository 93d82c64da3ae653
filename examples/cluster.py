"""
Training on a cluster
=====================

Train on two worker processes with Dask, and compare the model with one trained in a single process.

Run it with ``python examples/cluster.py``.
"""

# %%
# Workers
# -------
# ``engine="local:2"`` starts two processes on this machine for the time of a fit.
# ``engine="tcp://host:8786"`` uses an existing Dask cluster. Each worker holds a part
# of the data; an iteration sends the weights and returns gradients.

import matplotlib.pyplot as plt
import numpy as np

from fastcrf import CRF
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.displays import ConvergenceDisplay


def main():
    tokens, y = make_addresses(1000, random_state=0)
    X = [address_items(address) for address in tokens]

    here = CRF("lbfgs", c2=0.5).fit(X, y)
    workers = CRF("lbfgs", c2=0.5, engine="local:2").fit(X, y)
    print(workers.stop_reason_)
    print(workers.predict(X) == here.predict(X))

    _, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    ConvergenceDisplay.from_estimator(here, name="this process", ax=ax, linewidth=4, alpha=0.5)
    ConvergenceDisplay.from_estimator(workers, name="two workers", ax=ax)
    plt.show()

    ours, theirs = (np.array(list(crf.state_features_.values())) for crf in (here, workers))
    print(f"largest difference of a weight: {np.abs(ours - theirs).max():.1e}")


# %%
# Workers import the program, so its work belongs under this line:

if __name__ == "__main__":
    main()

# %%
# Only batch solvers run on workers: ``lbfgs``, ``owlqn``, ``newton-cg``,
# ``accelerated-gradient``. ``auto`` becomes ``lbfgs``, or ``owlqn`` with an L1 penalty.
#
# Your own data
# -------------
# Workers read files themselves if they see them under the same path:
#
# .. code-block:: shell
#
#     fastcrf train /shared/part-*.txt.gz -m model.crf --engine tcp://host:8786
#
# :doc:`/how-to/large-data` describes failures, trust and settings.
