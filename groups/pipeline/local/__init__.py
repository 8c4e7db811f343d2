"""Imports without Spark: the same tasks, in this process or in worker processes of this machine."""
