"""State: what a log's records have reported of a group so far. Values alone; what makes them of entries is ``replay``.

``group`` is the whole, ``epochs`` what the consumer, share and streams protocols have in common, then a module a protocol.
``versions``, ``copying`` and ``identity`` are how large states are copied and compared cheaply; ``plain`` is state as JSON.
"""
