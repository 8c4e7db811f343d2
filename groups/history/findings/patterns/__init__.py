"""Patterns: what an incident was, by name. One file each, with its evidence, how bad it is, its usual causes, and where to look.

``pattern`` is what they have in common.
"""
