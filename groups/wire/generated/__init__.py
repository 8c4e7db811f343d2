"""Schemas made from the message files of Kafka 4.3.1, and the tagged fields that 4.4.0 added; nobody edits them.

``python -m tests.wire.kafka_schemas`` writes every module here again, and a test compares them with a fresh run.
"""
