import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import groups.authors


class Migration(migrations.Migration):
    dependencies = (("groups", "0016_silences"), migrations.swappable_dependency(settings.AUTH_USER_MODEL))

    operations = (
        migrations.CreateModel(
            name="Note",
            fields=(
                ("id", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("sequence", models.BigIntegerField()),
                ("at_ms", models.BigIntegerField(null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("note", "Note"), ("question", "Question")], default="note", max_length=16
                    ),
                ),
                ("text", models.TextField()),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.DateTimeField(auto_now=True)),
                ("versions", models.JSONField(default=list)),
                (
                    "author",
                    models.ForeignKey(
                        default=groups.authors.author_now,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("mentions", models.ManyToManyField(related_name="+", to=settings.AUTH_USER_MODEL)),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="groups.note",
                    ),
                ),
                (
                    "timeline",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notes", to="groups.timeline"
                    ),
                ),
            ),
            options={"ordering": ("sequence", "created", "id")},
        ),
    )
