"""Accounts of a team: who is signed in and how long, tokens of programs, and how often a password may be tried."""
