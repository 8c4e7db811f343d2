"""Frames: a state as the board shows it, JSON-ready, and the changes between two of them.

``frame.frame_of`` makes one; ``parts`` and ``members`` are its parts; ``changes`` are applicable forwards and backwards.
"""
