"""Explorations and judged recordings: their page and their API."""
