from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("groups", "0017_notes"),)

    operations = (migrations.AddField("timeline", "work", models.JSONField(null=True)),)
