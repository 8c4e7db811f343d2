"""What clients and coordinators say to each other, as values. Field names are those of Kafka's schemas.

``groups.history.payloads`` has the type of what each ``body()`` gives, as JSON.
"""
