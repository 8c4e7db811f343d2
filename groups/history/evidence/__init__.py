"""Evidence: what a pass over a log collects, of which sentences and findings are made.

``steps`` is what one step altered, ``display_names`` what members are called, ``holders`` and ``ownership`` who held which partition,
``lives`` who came and went, ``commit_runs``, ``committed``, ``paces`` and ``rhythm`` how commits went on, ``incidents`` what went wrong,
``reading`` what nobody read.
"""
