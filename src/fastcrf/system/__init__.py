"""Memory budget, memory-mapped arrays, threads, the cache folder and atomic writes. Knows no corpus and no model."""
