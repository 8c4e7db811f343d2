"""A client of the API for programs and notebooks: ``from rebalance_explorer.client import Client``.

It needs Python's standard library alone. Rows are dictionaries of one level that pandas takes as they are.
"""

from .api import Client
from .connection import ApiError, Unreachable
