"""Training where some labels are unknown: the marginal likelihood of what is known."""
