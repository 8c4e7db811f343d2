"""What Kafka's own tools print of a log, read back into the records that they printed."""
