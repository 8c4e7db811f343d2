"""State: what a log's records have shown of a group so far. Only values; ``replay`` makes them from entries.

``group`` is the whole, ``epochs`` what the consumer, share and streams protocols have in common, then a module a protocol.
``versions``, ``copying`` and ``identity`` are how large states are copied and compared cheaply; ``plain`` is state as JSON.
"""
