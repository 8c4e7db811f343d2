"""What clients and coordinators say to each other, as values. Field names are those of Kafka's schemas.

``groups`` has the consumer protocol's heartbeat and commits, ``offsets`` what a group's offsets and its end are asked with,
``client_mode`` the proposal's assignment by members. Each API of the classic protocol has a file of its own: ``join_group``,
``sync_group``, ``heartbeat``, ``leave_group``, ``describe_groups``, ``list_groups``; ``classic_fields`` is what they share.
``errors`` has the codes of all.

``groups.history.payloads`` has the type of what each ``body()`` gives, as JSON.
"""
