"""Vector lanes, padded rows, exp, log and sums over long vectors. Knows no labels and no sequences."""
