"""The default solver, which chooses among the families."""
