"""Trainers that learn from mistakes: the best labelling is compared with the right one."""
