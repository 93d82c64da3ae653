"""Training algorithms: one paper per file, one folder per family.

    from fastcrf.solvers import LBFGS, SAGNUSStar

imports solver objects with options for `CRF`, such as `CRF(LBFGS(pairs=20))`; `help(LBFGS)` explains the options.
`make(name, **options)` creates a solver by name, and `names()` lists the names. Importing this package imports no
Numba: a class loads when its name is first used. Modules of the package import solvers from their own modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastcrf.solvers.auto.auto import Auto as Auto
    from fastcrf.solvers.batch.accelerated_gradient import AcceleratedGradient as AcceleratedGradient
    from fastcrf.solvers.batch.bcd import BCD as BCD
    from fastcrf.solvers.batch.conjugate_gradient import ConjugateGradient as ConjugateGradient
    from fastcrf.solvers.batch.rprop import RPROP as RPROP
    from fastcrf.solvers.contract import Solver as Solver
    from fastcrf.solvers.dual.eg import EG as EG
    from fastcrf.solvers.dual.oeg import OEG as OEG
    from fastcrf.solvers.dual.sdca import SDCA as SDCA
    from fastcrf.solvers.iterative_scaling.aitken_gis import AitkenGIS as AitkenGIS
    from fastcrf.solvers.iterative_scaling.anderson_gis import AndersonGIS as AndersonGIS
    from fastcrf.solvers.iterative_scaling.gis import GIS as GIS
    from fastcrf.solvers.iterative_scaling.iis import IIS as IIS
    from fastcrf.solvers.margin.arow import AROW as AROW
    from fastcrf.solvers.margin.mira import MIRA as MIRA
    from fastcrf.solvers.margin.passive_aggressive import PassiveAggressive as PassiveAggressive
    from fastcrf.solvers.margin.perceptron import Perceptron as Perceptron
    from fastcrf.solvers.newton.newton_cg import NewtonCG as NewtonCG
    from fastcrf.solvers.newton.newton_l1 import NewtonL1 as NewtonL1
    from fastcrf.solvers.online.psa import PSA as PSA
    from fastcrf.solvers.online.staggered_aitken import StaggeredAitken as StaggeredAitken
    from fastcrf.solvers.quasi_newton.hybrid import Hybrid as Hybrid
    from fastcrf.solvers.quasi_newton.lbfgs import LBFGS as LBFGS
    from fastcrf.solvers.quasi_newton.olbfgs import OLBFGS as OLBFGS
    from fastcrf.solvers.quasi_newton.owlqn import OWLQN as OWLQN
    from fastcrf.solvers.quasi_newton.prox_lbfgs import ProxLBFGS as ProxLBFGS
    from fastcrf.solvers.registry import make as make
    from fastcrf.solvers.registry import names as names
    from fastcrf.solvers.sag.prox_sag import ProxSAG as ProxSAG
    from fastcrf.solvers.sag.prox_saga import ProxSAGA as ProxSAGA
    from fastcrf.solvers.sag.sag import SAG as SAG
    from fastcrf.solvers.sag.sag_nus import SAGNUS as SAGNUS
    from fastcrf.solvers.sag.sag_nus_star import SAGNUSStar as SAGNUSStar
    from fastcrf.solvers.sag.saga import SAGA as SAGA
    from fastcrf.solvers.sag.saga_fixed_probabilities import SAGAFixedProbabilities as SAGAFixedProbabilities
    from fastcrf.solvers.sag.saga_nus import SAGANUS as SAGANUS
    from fastcrf.solvers.sag.saga_nus_star import SAGANUSStar as SAGANUSStar
    from fastcrf.solvers.sag.saga_two_samples import SAGATwoSamples as SAGATwoSamples
    from fastcrf.solvers.sag.sg_nus import SGNUS as SGNUS
    from fastcrf.solvers.sag.svrg.emgd import EMGD as EMGD
    from fastcrf.solvers.sag.svrg.prox_svrg import ProxSVRG as ProxSVRG
    from fastcrf.solvers.sag.svrg.svrg import SVRG as SVRG
    from fastcrf.solvers.sgd.adagrad import AdaGrad as AdaGrad
    from fastcrf.solvers.sgd.asg import ASG as ASG
    from fastcrf.solvers.sgd.l1.sgd_l1 import SGDL1 as SGDL1
    from fastcrf.solvers.sgd.l1.sgd_l1_ball import SGDL1Ball as SGDL1Ball
    from fastcrf.solvers.sgd.l1.sgd_l1_clipping import SGDL1Clipping as SGDL1Clipping
    from fastcrf.solvers.sgd.l1.sgd_l1_naive import SGDL1Naive as SGDL1Naive
    from fastcrf.solvers.sgd.l2sgd import L2SGD as L2SGD
    from fastcrf.solvers.sgd.ngd.ngd import NGD as NGD
    from fastcrf.solvers.sgd.ngd.ngd_batch import NGDBatch as NGDBatch
    from fastcrf.solvers.sgd.pegasos import Pegasos as Pegasos
    from fastcrf.solvers.sgd.sgd import SGD as SGD
    from fastcrf.solvers.sgd.sgd_qn import SGDQN as SGDQN
    from fastcrf.solvers.sgd.smd import SMD as SMD

__all__ = [
    "AROW",
    "ASG",
    "BCD",
    "EG",
    "EMGD",
    "GIS",
    "IIS",
    "L2SGD",
    "LBFGS",
    "MIRA",
    "NGD",
    "OEG",
    "OLBFGS",
    "OWLQN",
    "PSA",
    "RPROP",
    "SAG",
    "SAGA",
    "SAGANUS",
    "SAGNUS",
    "SDCA",
    "SGD",
    "SGDL1",
    "SGDQN",
    "SGNUS",
    "SMD",
    "SVRG",
    "AcceleratedGradient",
    "AdaGrad",
    "AitkenGIS",
    "AndersonGIS",
    "Auto",
    "ConjugateGradient",
    "Hybrid",
    "NGDBatch",
    "NewtonCG",
    "NewtonL1",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "ProxLBFGS",
    "ProxSAG",
    "ProxSAGA",
    "ProxSVRG",
    "SAGAFixedProbabilities",
    "SAGANUSStar",
    "SAGATwoSamples",
    "SAGNUSStar",
    "SGDL1Ball",
    "SGDL1Clipping",
    "SGDL1Naive",
    "Solver",
    "StaggeredAitken",
    "make",
    "names",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fastcrf.solvers' has no attribute {name!r}")
    if name == "Solver":
        from fastcrf.solvers.contract import Solver

        return Solver
    from fastcrf.solvers import registry

    return getattr(registry, name) if name in ("make", "names") else registry.class_named(name)


def __dir__() -> list[str]:
    return sorted(__all__)
