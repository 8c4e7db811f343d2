"""Clients as machines: answers go in; requests and callbacks come out."""
