"""Pages, API and socket of imports."""
