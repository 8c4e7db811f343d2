from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0009_release")]

    operations = [
        migrations.AddField(
            model_name="timeline",
            name="thinned",
            field=models.BigIntegerField(default=0),
        ),
    ]
