"""What is pushed to browsers: one subscription a process and timeline (``hub``), fanned out to its ``sockets``."""
