"""Evidence: what a pass over a log collects, of which sentences and findings are made.

``steps`` is what one step altered, as ``between`` two states it is found (by ``holdings``),
``display_names`` what members are called, ``holders``, ``ownership`` and its ``intervals`` who held which partition, ``lives`` who came
and went, ``holes`` where a log lacks something, ``committed``, ``paces`` and ``rhythm`` how commits went on, ``incidents`` what went wrong,
``unread_partitions`` the partitions that no client read, and ``not_read`` when nobody fetched, where a run reports that.
"""
