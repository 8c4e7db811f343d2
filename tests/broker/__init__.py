"""A real Kafka broker for the tests: started from Maven's jars, driven by scripted clients, described raw.

Nothing here shares code with ``groups`` or ``simulations``: what it says about the broker is a second opinion.
"""
