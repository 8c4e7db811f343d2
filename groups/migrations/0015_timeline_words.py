"""The words by which timelines are searched; of imports by earlier versions members are added when they are folded again."""

from django.db import migrations, models

from groups.packs.listed_summary import words_of


def fill(apps, schema_editor):
    timelines = apps.get_model("groups", "Timeline").objects
    for timeline in timelines.only("pk", "group", "headline", "summary").iterator(chunk_size=100):
        words = f"{timeline.group.lower()} {timeline.headline.lower()} {words_of(timeline.summary)}"
        timelines.filter(pk=timeline.pk).update(words=words)


class Migration(migrations.Migration):
    dependencies = (("groups", "0014_cluster_of_a_file"),)

    operations = (
        migrations.AddField(
            model_name="timeline",
            name="words",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    )
