"""The options of commands: declarations that several share, those of train, and how values are written."""
