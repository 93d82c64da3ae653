"""Text files: their lines, columns and items; and the one way in which a file is written."""
