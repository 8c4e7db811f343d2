"""Upgrade rehearsal: a group as a team describes it, bounced member by member in the simulator, and what that costs.

``reading`` makes a ``Question`` of a document, ``moments`` a document of a timeline's moment. ``ways`` plans who is bounced when,
``scenarios`` writes each way as a scenario, ``playing`` runs it and measures each bounce. ``warnings`` and
``assignor_map`` say beforehand what is known of such a group; ``answering`` puts all together, ``markdown`` prints it.
"""
