"""The driver: clock, trace, stopping rules, checkpoints, display, warm-up."""
