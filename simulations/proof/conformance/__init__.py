"""Would Kafka have done this? A broker's recorded requests through the simulated coordinator, and what differs.

===================  =====================================================================================================
module               what it is for
===================  =====================================================================================================
``recording``        what was recorded of a group, as values
``splitting``        a request log cut into groups; which of them can be judged
``images``           the metadata log as the images that a coordinator gets
``configs``          settings of brokers and groups by Kafka's names
``requests``         one recorded request, put to a simulated shard; those of the classic protocol in ``classic_requests``
``versions``         answers as an older version of their API has them
``search``           the walk along a group's log, and back where an earlier step was the wrong one
``candidates``       what may have come next, and ``differing`` what to go on with where nothing agrees
``other_rules``      whether another release does what differs, and by which rules
``releasing``        answers that had to wait
``excuses``          what is believed where the recording cannot show it
``steps``            one step, and what it contributes to the report
``variants``         the ways in which one request may have been handled
``internal_events``  what a coordinator does without a request
``timeouts``         timers that run out, most of a classic group's without a record
``position``         where the walk is
``timers``           which timers must have been running
``comparing``        answers field by field, records one by one
``score``            what is equal is counted, what is not is worded
``trace``            the recording as entries, to be watched
``report``           the result as JSON
``releases``         which release it is of
===================  =====================================================================================================
"""

from simulations.proof.conformance.configs import BadSetting, settings_of
from simulations.proof.conformance.images import image_of_names, images_of
from simulations.proof.conformance.recording import (
    Difference,
    ImageChange,
    RecordedRequest,
    Recording,
    Written,
)
from simulations.proof.conformance.releases import bounds_of
from simulations.proof.conformance.report import Report, report
from simulations.proof.conformance.score import Score
from simulations.proof.conformance.search import Judge
from simulations.proof.conformance.splitting import GROUP_APIS, NotJudged, recordings
