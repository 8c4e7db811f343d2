"""Groups of the classic protocol on a real broker: every request with its answer, and every record, to be repeated.

=================  ==================================================================================
module             what it is for
=================  ==================================================================================
``transcript``     what was sent, answered and written, as values and as JSON
``line``           a connection with one request on it
``acting``         one group's requests
``conversation``   how they are sent, so that some of them may wait for each other, and answers noted
``exchanges``      the scripts
``improvised``     requests that are drawn at random
``repeating``      a transcript through the simulated coordinator, and what differs
``recording``      all of it on one broker, and into the fixture that tests without a broker repeat
=================  ==================================================================================
"""
