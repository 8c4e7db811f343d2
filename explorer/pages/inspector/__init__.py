"""The inspector: bytes pasted, linked, or of a record of a timeline, field by field."""
