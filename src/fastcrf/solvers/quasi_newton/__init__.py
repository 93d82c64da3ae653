"""Limited-memory quasi-Newton methods: L-BFGS, OWL-QN and their relatives."""
