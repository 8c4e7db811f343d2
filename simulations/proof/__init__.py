"""How the simulator is held to the truth: ``exploration`` walks every interleaving, ``fuzzing`` draws scenarios,
``conformance`` judges a broker's recordings, ``differences`` is where proposal and release part.
"""
