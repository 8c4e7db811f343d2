"""The JSON API of timelines, and the sockets that push what was stored."""
