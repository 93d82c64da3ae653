"""The driver: clock, trace, stopping criteria, checkpoints, display and warm-up."""
