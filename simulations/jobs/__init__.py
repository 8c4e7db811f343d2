"""Simulations next to the server: runs, sweeps, explorations and the laboratory's questions, each in a child process."""
