#!/usr/bin/env python
"""Every command of Rebalance Explorer: ``./manage.py help`` lists them."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from explorer.command_line import run

    run(sys.argv)
