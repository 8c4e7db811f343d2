"""What clients and coordinators say to each other, as values. Field names are those of Kafka's schemas.

``groups`` has the consumer protocol's heartbeat and commits, ``offsets`` what a group's offsets and its end are asked with,
``client_mode`` the proposal's assignment by members. The classic protocol's are in ``classic_requests``;
``describe_groups`` has groups described and listed, ``errors`` the codes of all.

``groups.history.payloads`` has the type of what each ``body()`` gives, as JSON.
"""
