"""From data and parameters to a trained model: plan, fit, warm start, prior, path, stream."""
