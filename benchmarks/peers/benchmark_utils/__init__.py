"""What the objective, the solvers and `run.py` share."""
