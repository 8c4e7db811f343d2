from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("groups", "0013_authors"),)

    operations = (
        migrations.AlterField(
            model_name="cluster",
            name="origin",
            field=models.CharField(
                choices=[
                    ("page", "Page"),
                    ("environment", "Environment"),
                    ("command", "Command"),
                    ("file", "File"),
                ],
                default="page",
                max_length=16,
            ),
        ),
    )
