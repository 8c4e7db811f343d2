"""The pages: one room each, with its part of the JSON API."""
