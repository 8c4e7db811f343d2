"""Sweeps: assignors × shapes of groups × events × seeds, answered in parallel on Spark.

``axes`` defines a sweep, ``cases`` makes a case of a seed, ``answering`` takes its figures, ``summary`` and
``sentences`` show what came out. On Spark it is done by ``simulations.spark``.
"""
