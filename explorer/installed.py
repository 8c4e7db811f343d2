"""The start of the installed program: what ``rebalance-explorer`` runs.

A wheel holds everything under the one folder ``rebalance_explorer``, and this file as its ``__init__``. The rooms of
the repository have names that others have, too (``static``, ``groups``, ``tests``): so none of them lies at the top of
``site-packages``, and only this program's own processes find them there.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run the command that the command line names."""
    # Before all others: a package ``groups`` of somebody else must not be taken for ours.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from explorer.command_line import run

    run(sys.argv)
