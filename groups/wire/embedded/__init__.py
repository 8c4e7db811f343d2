"""The blobs inside: what classic members and their leader say to each other past the broker, and what assignors
keep in the user data of it."""
