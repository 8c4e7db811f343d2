"""Incidents that are handed on: as one file that plays offline, as data, and by links.

=======================  ==========================================================================================
module                   what it is for
=======================  ==========================================================================================
``tokens``               what a link's token is made of, and which could be one
``door``                 which requests a token opens, before Django hears of them
``addresses``, ``logs``  how a request shows its token; log lines without it
``links``                share links made, listed, opened, withdrawn
``views``, ``link_responses`` what the holder of a link gets; ``crowd`` and ``looks`` when many ask at once; ``gone`` when nothing opens
``one_file``             one file: template, data, styles, script and checksum in one page that needs nothing else; ``bundle`` its script
``page``                 a timeline as such a file, with what a server computes otherwise; ``comparing`` several side by side, ``laboratory`` six answers
``exporting``, ``api``   the command's and the API's way to it; ``asking`` reads what they ask for
``card``                 the picture that a chat tool shows of a link
=======================  ==========================================================================================
"""
