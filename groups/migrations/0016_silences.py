import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import groups.authors


class Migration(migrations.Migration):
    dependencies = (("groups", "0015_timeline_words"), migrations.swappable_dependency(settings.AUTH_USER_MODEL))

    operations = (
        migrations.AddField(model_name="alert", name="silenced", field=models.BooleanField(default=False)),
        migrations.CreateModel(
            name="Silence",
            fields=(
                ("id", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("kind", models.CharField(blank=True, max_length=16)),
                ("group", models.CharField(blank=True, max_length=1000)),
                ("until_ms", models.BigIntegerField()),
                ("why", models.CharField(max_length=300)),
                ("who", models.CharField(blank=True, max_length=100)),
                ("created", models.DateTimeField(auto_now_add=True)),
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
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="silences", to="groups.cluster"
                    ),
                ),
            ),
            options={"ordering": ("until_ms", "id")},
        ),
    )
