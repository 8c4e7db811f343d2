"""Groups as a coordinator describes them when it is asked: descriptions, and the records that explain what changed.

A poll sees states, never changes. What happened between two polls is inferred: the records that lead from one
description to the next, in one unit, marked so. What a description does not report stays unknown.

====================  ==========================================================================================
module                what it is for
====================  ==========================================================================================
``description``       one form for the four kinds of groups
``describe_shapes``   the shapes of the describe requests' answers
``described_groups``  the answers of the describe requests, as descriptions
``inferring``         the records between two descriptions
``settings``          what a cluster reports of a group's settings
``recording``         polls in, entries of a timeline out; what was missed is said
====================  ==========================================================================================
"""
