"""The pipeline: logs in, timelines out, on Spark or, where they are small, without it. Nothing here knows of Django.

``python -m groups.pipeline.job`` is the whole of it for the rest of the product: a process of its own that reads
one JSON request on standard input and writes JSON Lines on standard output (``groups.pipeline.job`` reports them).
"""
