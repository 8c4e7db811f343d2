"""What would have helped: a search over remedies, its page, and branches of its rows."""
