"""Imports: a row with what is to be read, a child that reads it, timelines that are stored.

``runs`` starts, cancels and ends an import; ``tasks`` is its Celery task; ``receiving`` stores the child's messages.
"""
