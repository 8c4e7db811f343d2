"""Alerts: rules on what the groups of a live cluster do, sent to a webhook and to the browser.

================  ==========================================================================================
module            what it is for
================  ==========================================================================================
``rules``         kinds of rules with their bounds, and whether one holds; nothing of Django
``registry``      rules that are added, changed and removed; what pages and the API show
``looking``       a cluster's groups against its rules, after each round: alerts begin and end
``reach``         whether the cluster itself answers, against the rules on that
``ledger``        rules and the alerts that hold, as they are stored
``deliveries``    what is to be sent: a bounded queue with retries, and the log of what was
``webhook``       one POST to one address, with time limits and without redirects
``addresses``     which addresses a webhook may reach
================  ==========================================================================================

The process that watches a cluster looks and sends; its lease keeps it to one.
"""
