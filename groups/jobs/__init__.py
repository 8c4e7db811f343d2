"""Jobs: long work outside the server process. A lease names the process that does it, a child process does it, and the boards are notified."""
