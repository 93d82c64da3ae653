"""Variance reduction by snapshots: SVRG, prox-SVRG and EMGD."""
