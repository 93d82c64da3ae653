"""SAG and its relatives: stored gradients reduce the variance of each draw."""
