"""Databases and stores as earlier versions wrote them: three case studies or more, the sample log and a log of many chunks, each by
the version of the fold of that time. Entries are in rows at fold 6, and in packs from fold 22 on."""
