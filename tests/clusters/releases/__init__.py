"""Living groups on brokers of several releases, as the board shows them beside what Kafka's own tool prints."""
