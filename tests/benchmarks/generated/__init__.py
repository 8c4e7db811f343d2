"""Large ``__consumer_offsets`` segments as a coordinator could have written them, for measuring imports at real sizes.

``python -m tests.benchmarks.generated MIX FOLDER …`` writes them; ``mixes`` says what each holds.
"""
