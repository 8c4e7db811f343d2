"""Small faults put into the code one at a time: each has to be noticed by the tests of its own room.

``sites`` finds where a fault can be put, over the syntax tree; ``rooms`` says which tests are a room's own; ``trying`` runs
them on a copy of the tree; ``python -m tests.mutants`` draws a sample and prints the table.
"""
