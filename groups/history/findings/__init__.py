"""Findings: facts computed from the fold, each with the sequences that prove it and the sources that it needs.

One file a finder: what it needs, what it claims, what it cannot know. ``finder`` folds and asks them all; ``facts`` is what
they look at; ``finding`` the form of what they say, ``kinds`` what the verdict reads of each kind.
"""

from groups.history.evidence.lives import COMINGS_KEPT_MAX
from groups.history.findings.finder import Counts, Finder
from groups.history.findings.finding import Finding
