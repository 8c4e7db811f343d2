"""What would have helped: an incident replayed as it was and under each remedy, with many seeds, and ranked.

* ``values``: measures, remedies, assumptions, rows, bounds;
* ``incident``: the replay's scenario from a moment on, with those who go and come after it, and what the recording itself measured;
* ``drawing``: what each seed draws of the values that no log has;
* ``catalog``: the remedies that fit an incident; ``assumptions``: the values that it assumes, each with another one;
* ``measuring``: partition-seconds unassigned and not read, members interrupted, records read twice;
* ``searching``: all runs in order, with progress; spreads, verdicts and order.
"""
