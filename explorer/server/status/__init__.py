"""The status page: whether this installation works, and what it waits for."""
