"""Which sequence is sampled next, and the Lipschitz constants L_i behind the choice."""
