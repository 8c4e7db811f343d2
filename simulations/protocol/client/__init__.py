"""Clients as machines: answers go in; requests and callbacks come out.

``consumer`` speaks the consumer protocol, ``classic`` the classic one. Each has its ``consumer`` that is driven, its ``state``, and its
``rounds`` in which everything is looked at until nothing more is to do. ``expressions`` are those that a client matches itself.
"""
