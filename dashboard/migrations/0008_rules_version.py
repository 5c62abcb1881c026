"""Labs keep the version of the rules that they were made under; those that are there were made before
versions were kept."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0007_pulse")]
    operations = [
        migrations.AddField(model_name="lab", name="rules_version", field=models.PositiveIntegerField(default=0)),
    ]
