"""Who may ask: what stands before every page, answer and socket. ``gate`` puts it together."""
