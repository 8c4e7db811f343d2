"""The protocols: ``messages``, ``coordinator``, ``client`` and ``assignors``. Pure machines; the world they run in is ``world``."""
