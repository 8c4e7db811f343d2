"""The tests. Compiled modules are kept for the next process, even where the environment says not to keep them.

A run starts hundreds of processes. Each would compile the product's 870 modules again, for a second of a processor,
and each part of the tests all its files. ``python -B`` still keeps nothing.
"""

from __future__ import annotations

import os
import sys

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
