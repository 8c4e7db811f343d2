"""Random scenarios, judged by the checker and shrunk where they break an invariant.

``generator`` makes a scenario of a seed, ``verdict`` runs and judges it, ``shrinking`` makes a failing one small; ``batches`` does so for a block of seeds and counts what the runs reached, which ``simulations.spark`` spreads.
"""
