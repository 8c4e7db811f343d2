"""Frames: a state as the board shows it, JSON-ready, and the changes between two of them.

``shapes`` declares what they hold; ``frame.frame`` makes one; ``parts`` and ``members`` are its parts; ``changes`` are applicable forwards and backwards.
"""
