from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("groups", "0007_alerts")]

    operations = [
        migrations.AddField(
            model_name="timeline",
            name="verdict",
            field=models.BinaryField(null=True),
        ),
    ]
