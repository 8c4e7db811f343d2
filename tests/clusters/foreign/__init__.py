"""Groups of clients that other people wrote, as the app shows them next to what Kafka's own tool prints."""
