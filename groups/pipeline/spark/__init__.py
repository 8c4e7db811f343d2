"""Spark itself: the Java it runs on, its session (kept warm between imports), and the process that it runs in."""
