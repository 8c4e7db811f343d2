"""The story of a log: what happened at each place where the board rests, in one sentence each.

``moments`` is the way in; ``members``, ``classic_sentences``, ``joining``, ``share`` and ``events`` have the sentences of their kind; ``entry_groups``
and ``epochs`` say which entries belong together; ``cause`` why; ``problems`` are the places that somebody steps through.
"""
