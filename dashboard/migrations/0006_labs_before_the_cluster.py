"""Labs from before every Kafka lane ran on a cluster say so from now on: they replay as they were
(docs/decisions/labs-before-the-cluster.md)."""

from django.db import migrations


def mark(scenario):
    """The scenario with its Kafka lanes marked; None if there is nothing to mark."""
    rigs = scenario.get("rigs") or []
    old = [rig for rig in rigs if rig.get("model") == "kafka" and "brokers" not in rig and "cluster" not in rig]
    for rig in old:
        rig["cluster"] = False
    return scenario if old else None


def mark_all(apps, schema_editor):
    for lab in apps.get_model("dashboard", "Lab").objects.only("pk", "scenario", "slug").iterator(chunk_size=200):
        marked = mark(lab.scenario)
        if marked is not None:
            lab.scenario = marked
            # The demo that visitors copy is made again, on the cluster; this one stays, as everybody's copies
            # of it do.
            lab.slug = None
            lab.save(update_fields=["scenario", "slug"])


def unmark_all(apps, schema_editor):
    for lab in apps.get_model("dashboard", "Lab").objects.only("pk", "scenario").iterator(chunk_size=200):
        for rig in lab.scenario.get("rigs") or []:
            rig.pop("cluster", None)
        lab.save(update_fields=["scenario"])


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0005_lab_names'),
    ]

    operations = [
        migrations.RunPython(mark_all, unmark_all),
    ]
