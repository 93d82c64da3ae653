"""One file a paper, in the order of its experiments section."""
