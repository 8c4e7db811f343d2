"""Jobs: long work beside the server. A lease says who does it, a child process does it, and the boards are told."""
