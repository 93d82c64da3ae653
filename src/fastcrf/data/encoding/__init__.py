"""From Python's data to arrays: what items, sequences and labels may be, and how attributes get their ids."""
