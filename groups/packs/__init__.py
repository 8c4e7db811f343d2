"""The files in which imported timelines stand: written by Spark's tasks, read by the web without Spark's packages.

* ``files``: where they are: a folder that web and workers share, or any file system that Arrow reaches;
* ``packs``: files named by their content that hold many blobs, since a log has more groups than a folder should have files;
* ``chained``, ``text_delta``: large checkpoints, as the difference to the one before;
* ``blocks``: the entries of one chunk, offset commits by columns;
* ``index``: what the first pass over a log leaves of a timeline: its summary, its chunks, its commits in sum;
* ``opening``: frames, changes and moments of one chunk, made when somebody looks at it.

Nothing here knows Django, Spark or numpy.
"""
