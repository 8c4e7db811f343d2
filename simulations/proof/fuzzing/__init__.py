"""Random scenarios, judged by the checker and shrunk where they break an invariant.

``generator`` makes a scenario of a seed, ``verdict`` runs and judges it, ``coverage`` counts what a run reached,
``shrinking`` makes a failing one small; ``batches`` does so for a block of seeds, which ``simulations.spark`` spreads.
"""
