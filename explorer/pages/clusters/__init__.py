"""Live clusters: the list with the wizard that adds one, and a cluster's groups as they rebalance."""
