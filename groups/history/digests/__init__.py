"""Digests: what a map of a thousand members shows of a timeline, computed next to the fold.

* ``values``: what a row contains, and how finer columns make a coarser one;
* ``ownership``: who holds and should hold each partition, kept change by change;
* ``digester``: changes and moments in, digests out;
* ``part``: the digest itself; ``packed``: its stored form;
* ``events``: like events as one;
* ``coarse``: the members of a chunk that nobody has opened;
* ``levels``: digests put together, cut to a window and made coarser.
"""

from groups.history.digests.digester import Digester, digest_of
from groups.history.digests.levels import coarsened, joined, window
from groups.history.digests.part import Digest
