"""Two or three timelines side by side, with one playhead."""
