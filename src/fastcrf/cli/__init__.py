"""The command line: options, reports, and one module per command in commands/."""
