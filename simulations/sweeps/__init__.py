"""Sweeps: assignors × shapes of groups × events × seeds, answered in parallel on Spark.

``axes`` says what a sweep is, ``cases`` makes a case of a seed, ``answering`` takes its figures, ``transformations`` and
``job`` do so on Spark, ``summary`` and ``sentences`` tell what came out. Nothing here knows Django.
"""
