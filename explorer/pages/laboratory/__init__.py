"""The laboratory: one group, one event, six assignors side by side."""
