"""The features of a corpus, the label contexts of higher-order chains, and the layout of the weight vector."""
