"""Which label sequences are allowed: tagging schemes, forced labels, tag dictionaries."""
