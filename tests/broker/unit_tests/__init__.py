"""Kafka's own unit tests of its group coordinator, recorded as they run and played against the simulated one.

``Recorder.java`` runs them and writes down what they ask of the released coordinator and what that answers and records;
``playing`` does the same to the simulated one. ``python -m tests.broker.unit_tests`` does both.
"""
