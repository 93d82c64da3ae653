"""Which features a corpus has, the label contexts of higher-order chains, and the layout of the weight vector."""
