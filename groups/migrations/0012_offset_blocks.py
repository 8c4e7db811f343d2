import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0011_headline_text")]

    operations = [
        migrations.CreateModel(
            name="OffsetBlock",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("end", "End"), ("start", "Start"), ("committed", "Committed")], max_length=16
                    ),
                ),
                ("topic", models.CharField(max_length=249)),
                ("first_ms", models.BigIntegerField()),
                ("last_ms", models.BigIntegerField()),
                ("thinned", models.BooleanField(default=False)),
                ("columns", models.BinaryField()),
                (
                    "cluster",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offset_blocks",
                        to="groups.cluster",
                    ),
                ),
                (
                    "imported",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offset_blocks",
                        to="groups.import",
                    ),
                ),
                (
                    "watched",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offset_blocks",
                        to="groups.watchedgroup",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["cluster", "kind", "topic", "last_ms"], name="offset_block_topic"),
                    models.Index(fields=["cluster", "thinned", "last_ms"], name="offset_block_age"),
                ],
            },
        ),
    ]
