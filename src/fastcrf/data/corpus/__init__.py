"""Operations on encoded corpora: occurrences, rare attributes, the order of blocks."""
