"""Where KIP-848's text and Kafka as released differ: a list, and a page for each with the exchange that shows it."""
