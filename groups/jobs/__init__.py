"""Jobs: long work next to the server. A lease names the process that does it, a child process does it, and the boards are notified."""
