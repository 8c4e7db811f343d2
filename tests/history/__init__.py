"""Tests of ``groups.history``: logs typed by hand, and logs drawn at random."""
