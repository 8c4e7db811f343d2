"""What a group is, read from its log: entries, state, ``replay``, changes, frames, moments, findings and the verdict.

Pure: no framework, no I/O, no clock. A reader of a log needs ``recorder.Recorder``; a simulated coordinator keeps
``state.State`` as its memory and changes it by ``fold.replay`` alone.
"""
