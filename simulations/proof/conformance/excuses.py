"""What is believed where a recording cannot show it: each excuse has a name, and is counted next to the verdict."""

from __future__ import annotations

from typing import Final

EARLIER_STATE: Final = "a reader saw what was there a moment before"
LATE_LINE: Final = "a line of the request log was written more than 250 ms late"
LATE_IMAGE: Final = "a change of the metadata arrived more than a second late"
UNSEEN_TIMER: Final = "a timer ran out of which nobody saw the start"
UNSEEN_TASK: Final = "expressions were resolved by a task whose start no answer shows"
