"""A group, how it stood, and an event: what each of the six assignors makes of it. Pure: values in, values out.

The same case gives the same numbers always, in any process; sweeps hand cases to workers, the page puts them into
its address.
"""

from simulations.laboratory.assignor_answers import BOARDS, Answer, Board, answer, answers
from simulations.laboratory.cases import Before, Case, CaseError, CaseTopic, Event, Member
