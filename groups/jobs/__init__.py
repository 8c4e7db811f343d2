"""Jobs: long work next to the server. A lease states who does it, a child process does it, and the boards are notified."""
