from django.db import migrations, models


def listed(apps, schema_editor):
    """What an import made is what it reported."""
    through = apps.get_model('groups', 'Import').timelines.through
    made = apps.get_model('groups', 'Timeline').objects.exclude(made_by=None).values_list('made_by_id', 'pk')
    through.objects.bulk_create(
        [through(import_id=import_id, timeline_id=pk) for import_id, pk in made], batch_size=500
    )


class Migration(migrations.Migration):

    dependencies = [
        ('groups', '0002_imports'),
    ]

    operations = [
        # Its reverse name is wanted by the new field.
        migrations.AlterField(
            model_name='timeline',
            name='made_by',
            field=models.ForeignKey(
                null=True, on_delete=models.deletion.CASCADE, related_name='+', to='groups.import'
            ),
        ),
        migrations.AddField(
            model_name='import',
            name='timelines',
            field=models.ManyToManyField(related_name='imports', to='groups.timeline'),
        ),
        migrations.RunPython(listed, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='timeline',
            name='made_by',
        ),
        migrations.AddField(
            model_name='timeline',
            name='digest',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name='timeline',
            name='weight',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='timeline',
            name='folder',
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AddField(
            model_name='timeline',
            name='index_place',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='timeline',
            name='packs',
            field=models.JSONField(default=list),
        ),
        migrations.AddIndex(
            model_name='timeline',
            index=models.Index(fields=['group'], name='timeline_group'),
        ),
    ]
