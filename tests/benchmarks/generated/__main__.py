"""``python -m tests.benchmarks.generated MIX FOLDER [COUNT] [--seed N] [--partition N] [--one-file]``: writes a generated log.

``COUNT`` is in records for ``typical`` and ``churn``, in groups for ``many-groups``, in members for ``large-group``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from .mixes import MIXES, OFFSETS_PARTITIONS, PARTITION
from .segment_files import SEGMENT_BYTES

COUNTS = {"typical": 1_000_000, "churn": 1_000_000, "many-groups": 20_000, "large-group": 20_000}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.generated", description=__doc__)
    parser.add_argument("mix", choices=MIXES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--partition", type=int, default=PARTITION, choices=range(OFFSETS_PARTITIONS), metavar="N"
    )
    parser.add_argument("--one-file", action="store_true", help="one segment, whatever its size")
    asked = parser.parse_args()
    count = COUNTS[asked.mix] if asked.count is None else asked.count
    if count < 1:
        parser.error(f"COUNT is {count}; at least 1 is needed")
    began = time.process_time()
    written = MIXES[asked.mix](
        asked.folder,
        count,
        seed=asked.seed,
        partition=asked.partition,
        segment_bytes=None if asked.one_file else SEGMENT_BYTES,
    )
    took = time.process_time() - began
    told = {
        "files": [str(path) for path in written.files],
        "groups": len(written.groups),
        "records": written.records,
        "bytes": written.size_bytes,
        "types": dict(sorted(written.types.items())),
        "processor_s": round(took, 2),
        "records_per_s": round(written.records / took) if took else None,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
