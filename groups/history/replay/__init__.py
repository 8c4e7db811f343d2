"""Replay: the fold. A state and an entry go in, the next state comes out; ``fold.replay`` is the one way in.

``consumer``, ``classic_record``, ``share``, ``streams`` and ``offsets`` replay records; ``epoch_groups`` what three of the protocols write
alike; ``volatile`` everything that is no record, ``faults`` of that. ``commit_runs`` are many commits at once, of an import or in
one entry of a followed group. ``record_types`` and ``fields`` are how payloads are read.
"""
