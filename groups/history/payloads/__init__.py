"""What entries hold, by the names of Kafka's schemas: the one declaration for the writers and the readers of payloads.

requests and answers  ``consumer`` of the consumer protocol, ``classic_bodies`` of the classic one
records               ``records``: the value of each type

The types say what a simulated run and a schema's codec write. Entries of logs from outside may hold anything: the fold reads
those with ``groups.history.replay.fields``.
"""
