"""Reading: what is found in the files that were given. A split at a time, in Spark's tasks.

``recognising`` recognises a file by its content, ``splitting`` cuts each into splits at batches' borders; ``offsets_split`` and
``tasks`` read a split; what they hand on are ``rows`` and ``group_blocks``.
"""
