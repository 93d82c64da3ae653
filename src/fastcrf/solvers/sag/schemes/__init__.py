"""Sampling schemes: the next sequence, and the Lipschitz constants L_i behind the choice."""
