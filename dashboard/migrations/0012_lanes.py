"""A lane is called `lane` in all that is stored: `rig`, its older name, goes. Checkpoints go with it, as those of every
other version do: a lab is replayed from its start, once."""

import json

from django.db import migrations, models
from django.db.models.functions import Cast

ROWS = 500
RENAMED = {"rig": "lane", "rigs": "lanes", "rig_order": "lane_order"}
BACK = {name: older for older, name in RENAMED.items()}


def of(entry, names):
    """The object with its own keys renamed; what is no object stays."""
    return {names.get(key, key): value for key, value in entry.items()} if isinstance(entry, dict) else entry


def of_scenario(scenario, names):
    scenario = of(scenario, names)
    lesson = scenario.get("lesson") if isinstance(scenario, dict) else None
    if isinstance(lesson, dict) and isinstance(lesson.get("steps"), list):
        steps = [
            {**step, "order": of(step["order"], names)} if isinstance(step, dict) and "order" in step else step
            for step in lesson["steps"]
        ]
        scenario = {**scenario, "lesson": {**lesson, "steps": steps}}
    return scenario


def of_script(script, names):
    if not isinstance(script, list):
        return script
    return [
        {**entry, "body": of(entry["body"], names)} if isinstance(entry, dict) and "body" in entry else entry
        for entry in script
    ]


def of_view(view, names):
    view = of(view, names)
    for lane in view["lanes" if "lanes" in view else "rigs"].values():
        if "why" in lane:
            lane["why"] = [of(event, names) for event in lane["why"]]
    view["timeline"] = {place: of(tick, names) for place, tick in view["timeline"].items()}
    view["caption"] = {**view["caption"], "params": of(view["caption"]["params"], names)}
    return view


COLUMNS = (
    ("Lab", "scenario", of_scenario),
    ("Lab", "script", of_script),
    ("StoredCommand", "body", of),
    ("StoredCommand", "fields", of),
    ("StoredEvent", "event", of),
    ("StoredView", "text", of_view),
    ("StudyWindow", "row", of),
)


def rename(apps, names):
    for model, column, renamed in COLUMNS:
        rows = apps.get_model("dashboard", model).objects
        # As text: a row that is damaged stays, and is that row's alone (dashboard/stored.py).
        texts = rows.annotate(as_text=Cast(column, models.TextField())).values_list("pk", "as_text")
        keys = list(rows.values_list("pk", flat=True))
        for first in range(0, len(keys), ROWS):
            for key, text in list(texts.filter(pk__in=keys[first:first + ROWS])):
                try:
                    value = json.loads(text)
                    other = renamed(value, names)
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                    continue
                if other != value:
                    is_text = column == "text"
                    stored = json.dumps(other, ensure_ascii=False, separators=(",", ":")) if is_text else other
                    rows.filter(pk=key).update(**{column: stored})
    apps.get_model("dashboard", "Checkpoint").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0011_checkpoints_by_cost'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='studywindow', name='window_once'),
        migrations.RenameField(model_name='studywindow', old_name='rig', new_name='lane'),
        migrations.AddConstraint(
            model_name='studywindow',
            constraint=models.UniqueConstraint(fields=('study', 'start_us', 'lane'), name='window_once'),
        ),
        migrations.RunPython(
            lambda apps, _editor: rename(apps, RENAMED), lambda apps, _editor: rename(apps, BACK)
        ),
    ]
