"""The server process: its settings' readers and checks, the embedded worker, static files, housekeeping."""
