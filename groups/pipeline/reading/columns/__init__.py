"""A segment of the offsets topic by columns: offset commits, which are most of it, as arrays of numpy.

``read_stretches`` gives the same records, byte by byte, as ``read_batches`` and ``decode_record``, and reports the same
damage; tests hold the two equal on generated, mutated and recorded segments. It knows the usual form of everything
and nothing else: where a batch or a record is not usual, the reader of batches and the decoder of records are asked,
whose word is the only one on it.

================= ======================================================================================
``values``        what a stretch is: commits in columns, other records, control batches, damage
``window``        the bytes at hand, and whatever is in them at many places at once
``chains``        batches one behind the other: headers, checksums, decompression
``framing``       where the records of many batches begin and end, and where their keys and values do
``distinct``      equal stretches of bytes numbered alike, so that each is decoded once
``commit_fields`` keys and values of commits
``stretches``     the walk over a whole file
================= ======================================================================================
"""

from groups.pipeline.reading.columns.commit_fields import KeyMemory
from groups.pipeline.reading.columns.stretches import STRETCH_BYTES, read_stretches
from groups.pipeline.reading.columns.values import CommitKey, Commits, Damage, Other, Stretch
