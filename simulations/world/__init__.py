"""The world of a run: ``scenario`` is what somebody wrote, ``engine`` makes it happen, ``studies`` are those that we bring."""
