"""Reports: one HTML file about a model and its predictions, and the summary that notebooks show."""
