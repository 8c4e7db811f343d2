"""Hostile bytes for every decoder: ``make fuzz``; the committed corpus is replayed by the tests.

===============  ===============================================================================================
module           what it is for
===============  ===============================================================================================
``targets``      every decoder with what must hold of it: of ``messages``, ``recorded``, ``batched``, ``inspected``
``oracle``       one input against one target: the bounds, and what counts as a finding
``values``       valid encodings to begin with: a few of everything, and what Kafka's own classes wrote
``mutation``     what is done to them
``corpus``       the committed inputs, one line each
``worker``       one process's loop, blind or led by coverage
===============  ===============================================================================================
"""
