"""Who may ask: what is before every page, answer and socket. ``gate`` puts it together."""
