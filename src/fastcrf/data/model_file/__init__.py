"""The file of a trained model: its container, its content, and the checks of what is read."""
