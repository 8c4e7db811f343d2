"""What a group would do: assignors, coordinator, clients, the event engine, scenarios and case studies.

Knows groups, whose fold is the coordinator's memory.
"""
