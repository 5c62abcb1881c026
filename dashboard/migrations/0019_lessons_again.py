"""The site's own labs of embedded lessons were run to their end without what the lessons order on the way. They go, and
are made again when somebody looks at the lesson."""

from typing import Any

from django.db import migrations


def drop(apps: Any, _editor: Any) -> None:
    apps.get_model("dashboard", "Lab").objects.filter(slug__startswith="lesson:").delete()


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0018_goal_counted")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
