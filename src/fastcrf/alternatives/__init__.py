"""Label sequences besides the best one: the n best, samples, probabilities of pairs, entropies."""
