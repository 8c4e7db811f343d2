"""Topics of a log without names: what is known of them, and what a metadata hash proves."""
