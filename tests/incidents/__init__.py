"""Incidents that real clients went through on a real broker, recorded once, and a judge of what the product says of them."""
