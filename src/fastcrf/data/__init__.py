"""From Python objects and files to arrays."""
