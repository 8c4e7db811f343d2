from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0005_clusters")]

    operations = [
        migrations.AddField("cluster", "positions", models.JSONField(default=dict)),
        migrations.AddField("watchedgroup", "followed", models.JSONField(default=dict)),
        migrations.AddField("watchedgroup", "checkpoint", models.BinaryField(null=True)),
    ]
