"""An incident that is handed on: a stretch of a timeline, cut out, with names hidden where that is wished.

* ``pieces``: chunks of a timeline (frame, changes, moments, entries), cut to a stretch;
* ``redaction``: keyed pseudonyms in the place of all that names somebody;
* ``fields``: what each field of an entry holds, which the redaction goes by;
* ``measured``: Kafka's metrics at each moment of one;
* ``data``: a timeline's entries as one file, with a checksum, which another installation takes in.
"""
