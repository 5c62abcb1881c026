from django.db import migrations, models


def forget(apps, schema_editor):
    """Those of before were of another version of the state: no lab could begin with them, and each would be
    replayed from its start wherever one is nearest."""
    apps.get_model('dashboard', 'Checkpoint').objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0010_view_facts'),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveField(model_name='checkpoint', name='record_count'),
        migrations.AddField(
            model_name='checkpoint', name='steps', field=models.BigIntegerField(default=0), preserve_default=False,
        ),
        migrations.AddField(
            model_name='checkpoint', name='size', field=models.BigIntegerField(default=0), preserve_default=False,
        ),
        migrations.AddField(model_name='checkpoint', name='base_at_us', field=models.BigIntegerField(null=True)),
        migrations.AddField(model_name='checkpoint', name='base_position', field=models.BigIntegerField(null=True)),
    ]
