"""The first page, and the app's own help."""
