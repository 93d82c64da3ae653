"""Text files: their lines, columns and items; and checks of where files are written."""
