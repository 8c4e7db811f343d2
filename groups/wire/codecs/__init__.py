"""The engine: what a schema is, and the readers and writers that are made from one for each version.

``schema`` is data alone; ``codec`` compiles it, into closures (``struct_readers``, ``struct_writers``) and into one
function a message (``fused_readers``); ``primitives``, ``java_strings`` and ``uuids`` are what they are made of.
"""
