"""What clients and coordinators say to each other, as values. Field names are those of Kafka's schemas.

``groups`` has the heartbeat and commits, ``offsets`` what a group's offsets and its end are asked with, ``client_mode`` the
proposal's assignment by members. Those of the classic protocol stand with its coordinator (``coordinator.classic.messages``).

``groups.history.payloads`` has the type of what each ``body()`` gives, as JSON.
"""
