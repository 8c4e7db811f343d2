"""The group coordinator as a pure machine: a request goes in; an answer, records and timer commands come out.

Its memory is ``groups.history.state.State`` and changes by ``groups.history.fold.replay`` of the records alone. Time
is an argument. ``kafka`` holds the rules of release 4.3.1, ``kip`` those of KIP-848's text; what both share stands
beside them.
"""
