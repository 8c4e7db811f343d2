"""Benchmarks: what the product promises in seconds and bytes, measured on the real server.

``make bench`` runs them all and prints a table; ``python -m tests.benchmarks NAME…`` runs some. A benchmark is no
test: times are noisy, so it prints what it measured beside the goal and never fails.
"""
