"""Random scenarios, judged by the checker and shrunk where they break an invariant.

``drawing`` makes a scenario of a seed, ``verdict`` runs and judges it, ``coverage`` counts what a run reached,
``shrinking`` makes a failing one small. ``job`` and ``transformations`` do so on Spark; nothing here knows Django.
"""
