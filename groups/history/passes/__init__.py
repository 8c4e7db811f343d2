"""Passes over a log: what goes through its entries once, in order, and leaves what is stored.

``indexing`` is the first pass (state, findings, summary, checkpoints), ``recorder`` makes all that a board shows; ``units``
and ``record_lines`` are what a log of records is before it is entries; ``checkpoints`` let a pass go on from the middle.
"""
