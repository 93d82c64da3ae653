"""Stochastic average gradient methods: SAG, SAGA and their non-uniform variants."""
