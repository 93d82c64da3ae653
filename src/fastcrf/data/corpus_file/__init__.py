"""The file of an encoded corpus: written piece by piece, mapped when it is used."""
