from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0008_verdict")]

    operations = [
        migrations.AddField(
            model_name="timeline",
            name="release",
            field=models.CharField(blank=True, default="", max_length=16),
            preserve_default=False,
        ),
    ]
