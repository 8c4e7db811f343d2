"""Forks of a timeline: what a moment gives, a new branch, the tree of branches."""
