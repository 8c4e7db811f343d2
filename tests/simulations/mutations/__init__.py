"""Seeded mistakes: each is one small patch of the simulator, and the fuzzer has to find every one of them.

``patches`` has the list, ``mutated`` imports the product with one of them, ``hunting`` finds it in processes of its
own, ``found.json`` keeps which seed did. ``python -m tests.simulations.mutations`` runs all and prints the table.
"""
