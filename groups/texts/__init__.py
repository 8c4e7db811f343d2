"""What people paste of Kafka: the output of its tools and lines of logs, read back into records and entries.

``formats`` has the one table of what is read. A format is a file with a reader, and a row there. The request log is read here for
``conform``, too (``request_log``).
"""
