"""What a group is, and what a real one did: wire formats, the fold, storage, the Spark pipeline.

``wire`` turns bytes into values, ``history`` folds entries into frames, ``pipeline`` reads logs with Spark,
``storage`` keeps timelines. Knows nothing of the other rooms.
"""
