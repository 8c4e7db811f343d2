"""``python -m tests.browser.seed``: stores a log without topic names in the server's database; prints its id.

With ``classic``, ``share`` or ``streams`` as its argument, the log of such a group; with ``broken`` a run in which a
partition has two owners; with ``held`` one whose foo-2 an open transaction holds; with ``empty`` a run that recorded nothing; with ``lag`` a group of a cluster that was watched, and whose lag is known; with ``commits`` a followed group that commits for ten minutes.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    django.setup()
    from groups import storage
    from tests.history import test_share_group, test_streams_group
    from tests.stories import OTHER_TOPIC_ID, Story, broken_run, classic_group

    if sys.argv[1:] == ["broken"]:
        timeline = storage.create_timeline(title="Broken", source="simulation", group="orders")
        writer = storage.open_writer(timeline.id, "the test")
        writer.append(broken_run())
        writer.finish("complete")
        sys.stdout.write(timeline.id)
        return
    if sys.argv[1:] == ["empty"]:
        timeline = storage.create_timeline(title="Nothing", source="simulation", group="orders")
        storage.open_writer(timeline.id, "the test").finish("complete")
        sys.stdout.write(timeline.id)
        return
    if sys.argv[1:] == ["held"]:
        from tests.history.storied import two_reading

        held_back = two_reading(60_000)
        note = {"note": "transaction", "producer": 4001, "from_ms": 10_000, "from_offset": 19, "partition": 7}
        held_back.at(10_000, lambda log: log.note(**note, partitions={"foo": [2]}, committed=[70]))
        timeline = storage.create_timeline(title="Held", source="import", group="orders")
        writer = storage.open_writer(timeline.id, "the test")
        writer.append(held_back.log().recorded())
        writer.finish("complete")
        sys.stdout.write(timeline.id)
        return
    if sys.argv[1:] == ["lag"]:
        from groups.cluster_models import Cluster
        from groups.watching import registry
        from tests.watching.test_lag_over_time import OWNER, moving

        cluster = registry.add("paused", {"bootstrap.servers": "localhost:9092"})
        assert registry.take(cluster.pk, OWNER)
        sys.stdout.write(moving(cluster).id)
        Cluster.objects.filter(pk=cluster.pk).update(status=Cluster.Status.PAUSED)
        return
    if sys.argv[1:] == ["commits"]:
        from groups.history.passes.recorder import Recorder
        from tests.history.test_followed_commits import followed, silent_log, thin_entry, units_of

        recorder = Recorder(group="orders")
        for entry in followed("orders", list(units_of(list(silent_log(0))))):
            recorder.add(thin_entry(entry) if entry.at_ms < 100_000 else entry)
        timeline = storage.create_timeline(title="Commits", source="live", group="orders")
        writer = storage.open_writer(timeline.id, "the test")
        if (whole := recorder.flush(final=True)) is not None:
            writer.append(whole)
        writer.finish("complete")
        sys.stdout.write(timeline.id)
        return
    timeline = storage.create_timeline(title="Orders", source="import", group="orders")
    writer = storage.open_writer(timeline.id, "the test")
    if sys.argv[1:] == ["classic"]:
        story = Story().unit(classic_group())
    elif sys.argv[1:] == ["share"]:
        of = test_share_group
        story = Story().unit(*of.FIRST_JOIN).unit(of.R.share_state(initialized=[0, 1]))
        story.unit(*of.GIVEN_OUT).unit(*of.SECOND_JOIN)
    elif sys.argv[1:] == ["streams"]:
        story = Story().unit(*test_streams_group.FIRST_JOIN).unit(*test_streams_group.SECOND_JOIN)
    else:
        story = Story().joins("A", [0, 1]).joins("B", [2], OTHER_TOPIC_ID).leaves("A")
    for batch in story.batches(1):
        writer.append(batch)
    writer.finish("complete")
    sys.stdout.write(timeline.id)


if __name__ == "__main__":
    main()
