#!/usr/bin/env python
"""Every command of Rebalance Explorer: ``./manage.py help`` lists them."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A bad setting is bad input: one line that says which and what would be right, never a traceback.
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except OperationalError as error:
        # Django's own commands, such as migrate, meet a database that is not there, too.
        from groups.database import unreachable

        sys.stderr.write(f"{unreachable(error)}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
