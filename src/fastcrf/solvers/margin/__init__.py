"""Trainers that learn from mistakes: the best labeling is compared with the right one."""
