"""The documentation, as pages of the server: the same files as in the repository's ``docs/``."""
