"""Simulations outside the server process: runs, sweeps, explorations and the laboratory's questions, each in a child process."""
