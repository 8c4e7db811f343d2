"""Upgrade rehearsal: a group as a team describes it, bounced member by member in the simulator, and what that costs.

``question_yaml`` makes a ``Question`` of a document, ``moments`` a document of a timeline's moment. ``ways`` plans who is bounced when,
``scenarios`` writes each way as a scenario, ``playing`` runs it and measures each bounce; ``judging`` judges what came of it
(safe, refused, unsafe), and shows what led to an unsafe moment. ``warnings``
contains what is known of such a group beforehand; ``markdown`` prints all.
"""
