"""Upgrade rehearsal: a group described, or taken from a timeline, and its upgrade bounce by bounce."""
