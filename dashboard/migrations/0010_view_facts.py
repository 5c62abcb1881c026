from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0009_lab_parts")]

    operations = [
        migrations.AddField(model_name="storedview", name="facts", field=models.TextField(default="")),
    ]
