"""Runs of the simulator: the form, their start, their end."""
