"""Releases of Apache Kafka's brokers as values: each lists the rules that it follows.

``table`` has every rule that depends on the release, once, with its source and the release that has it first. Nothing else compares
version numbers: the coordinator, the fold, the findings, the checkers and the pages ask a release for a rule by its name.
"""

from groups.releases.evidence import REASONS, Bounds, RecordEvidence, bounds_of_apis, release_by
from groups.releases.older import OLDER, since
from groups.releases.release import (
    ALIASES,
    EARLIER,
    GROUP_VERSION,
    NEWEST,
    Release,
    UnknownRelease,
    release_of,
)
from groups.releases.table import TABLE, Rule, Rules
