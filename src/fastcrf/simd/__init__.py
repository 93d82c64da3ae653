"""Vector lanes, padded rows, exp, log and sums over long vectors; independent of labels and sequences."""
