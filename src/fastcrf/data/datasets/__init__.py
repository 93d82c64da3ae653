"""Built-in generated data sets and known public corpora."""
