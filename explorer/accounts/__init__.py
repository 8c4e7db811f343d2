"""Accounts of a team: who is signed in, how long, and how often a password may be tried."""
