"""The audit log, as admins read and export it."""
