"""Bytes, field by field: what is where, what it means, and what an edit makes of it.

====================  ========================================================================================
module                what it is for
====================  ========================================================================================
``inspecting``        ``inspect``: the listing of bytes of a named kind, and what records and batches in it are called
``kinds``             ``kinds``: every kind by its name
``guessing``          ``guess``: which kind bytes are
``editing``           ``edit``: the bytes with one field changed, through blobs inside blobs
``side_by_side``      ``differences``: two listings matched by name
``clients``           ``seen_by``: what a reader of an older version makes of bytes
``meanings``          what each field means, in a few words (``words`` has values in words)
``sentences``         ``sentence_of``: the sentence on top, each clause with the field that it is on; what each kind
                      states is in ``value_sentences``
``text``              ``bytes_from_text``: hex, dumps, base64; bytes as languages print them are in ``printed``
``nodes``             the nodes of a listing, their JSON form, and their values
``walk``              the listing of a message, along the declaration that its codec is compiled from
``layouts``           where a kind's version is, and which message follows
``framing``           batches and segments as they stand in a log; a record of one in ``framed_records``
``requests``          requests and responses with their headers
``opening``           blobs that are opened in place, and what states what they are
====================  ========================================================================================

Pure, as all of ``groups.wire``. Bytes never make it raise: what cannot be read is a ``Problem`` on its field.
"""

from groups.wire.inspection.clients import clients, seen_by
from groups.wire.inspection.editing import edit
from groups.wire.inspection.guessing import Guess, guess
from groups.wire.inspection.inspecting import Inspection, inspect, inspect_record
from groups.wire.inspection.kinds import Kind, kind_named, kinds
from groups.wire.inspection.nodes import Node, Problem, each_node, find
from groups.wire.inspection.printed import BadText
from groups.wire.inspection.sentences import as_text, sentence_of
from groups.wire.inspection.side_by_side import differences
from groups.wire.inspection.text import bytes_from_base64, bytes_from_hex, bytes_from_text
from groups.wire.inspection.walk import MOST_BYTES
