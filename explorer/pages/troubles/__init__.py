"""The table of what is wrong: of all groups, of an import, of a cluster."""
