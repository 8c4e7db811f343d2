"""Figures: pure functions from values to Plotly JSON or SVG. Colours are the page's, by identity, never in here."""
