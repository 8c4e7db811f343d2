"""Incidents that are handed on: as one file that plays offline, as data, and by links."""
