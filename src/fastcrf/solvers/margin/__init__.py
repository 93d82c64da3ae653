"""Mistake-driven trainers: they compare the best label sequence with the gold one."""
