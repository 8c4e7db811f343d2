"""Two to four timelines side by side, with one playhead."""
