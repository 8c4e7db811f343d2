"""The headline as text of its own, so that a database can search it; it stood in a compressed verdict, or in the summary."""

import cramjam
import orjson
from django.db import migrations, models


def fill(apps, schema_editor):
    timelines = apps.get_model("groups", "Timeline").objects
    for timeline in timelines.only("pk", "verdict", "summary").iterator(chunk_size=100):
        verdict = timeline.summary.get("verdict")
        if timeline.verdict is not None:
            verdict = orjson.loads(bytes(cramjam.zstd.decompress(bytes(timeline.verdict))))
        verdict = verdict or {}
        clauses = (verdict.get("headline") or verdict).get("clauses", [])
        text = "".join(clause["text"] for clause in clauses)
        if text:
            timelines.filter(pk=timeline.pk).update(headline=text)


class Migration(migrations.Migration):
    dependencies = [("groups", "0010_thinned")]

    operations = [
        migrations.AddField(
            model_name="timeline",
            name="headline",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
