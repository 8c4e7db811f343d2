"""Schemas made from Kafka's message files of the releases that ``groups.releases`` lists; nobody edits them.

``python -m tests.wire.kafka_schemas`` writes every module here again, and a test compares them with a fresh run.
"""
