"""Access to live clusters, against a real broker with every kind of listener."""
