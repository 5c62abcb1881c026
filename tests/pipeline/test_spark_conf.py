"""`--conf spark.name=value` and SPARK_CONF reach Spark as they are; what is no setting is refused before Java starts."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError as CommandFailed

from broker_core.errors import CommandError
from broker_core.pipeline.spark_conf import conf_settings, conf_words
from dashboard.studies.spark import SparkEngine


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("spark.executor.memory=4g", ("spark.executor.memory", "4g")),
        ("spark.hadoop.fs.s3a.secret.key=a=b=", ("spark.hadoop.fs.s3a.secret.key", "a=b=")),
        ("spark.yarn.queue=", ("spark.yarn.queue", "")),
        ("spark.executor.extraJavaOptions=-Xss4m -Da=b", ("spark.executor.extraJavaOptions", "-Xss4m -Da=b")),
    ],
)
def test_all_behind_the_first_sign_is_the_value(text, setting):
    assert conf_settings([text], "--conf") == dict([setting])


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["spark.executor.memory"], "spark.executor.memory is no setting of Spark; write spark.exec"),
        (["executor.memory=4g"], "executor.memory is no setting of Spark"),
        (["=4g"], "- is no setting of Spark"),
        ([""], "- is no setting of Spark"),
        (["spark.=4g"], "spark. is no setting of Spark"),
        (["spark.executor memory=4g"], "spark.executor memory is no setting of Spark"),
        (["spark.a=1", "spark.b=2", "spark.a=1"], "spark.a is given twice"),
        (["spark.master=yarn"], "spark.master is said by SPARK_MASTER"),
    ],
)
def test_what_is_no_setting_is_refused_by_name_and_never_shows_its_value(texts, said):
    with pytest.raises(CommandError) as refused:
        conf_settings(texts, "--conf")
    assert refused.value.field == "--conf" and refused.value.reason.startswith(said)
    assert "4g" not in refused.value.reason.partition(";")[0]


def test_one_text_holds_several_settings_and_quotes_hold_blanks_together():
    assert conf_words("spark.a=1\n spark.b='2 3' \"spark.c=4 5\"", "SPARK_CONF") == [
        "spark.a=1",
        "spark.b=2 3",
        "spark.c=4 5",
    ]
    with pytest.raises(CommandError) as refused:
        conf_words("spark.a='1", "SPARK_CONF")
    assert (refused.value.field, refused.value.reason) == ("SPARK_CONF", "a quote is not closed")


def test_the_command_refuses_one_before_it_looks_at_the_file(tmp_path):
    with pytest.raises(CommandFailed, match=r"^--conf: memory is no setting of Spark") as refused:
        call_command("study", "nowhere.csv", "--out", str(tmp_path), "--conf", "memory=4g")
    assert refused.value.returncode == 2
    assert not list(tmp_path.iterdir())


def test_spark_is_opened_with_them_and_the_commands_win_over_the_sites(tmp_path, settings, monkeypatch):
    opened = []
    monkeypatch.setattr("broker_core.pipeline.session.spark_open", lambda **given: opened.append(given))
    settings.SPARK_CONF = "spark.executor.memory=1g spark.a='b c'"
    SparkEngine(tmp_path, conf={"spark.executor.memory": "4g"}).open()
    assert opened[0]["options"] == {"spark.executor.memory": "4g", "spark.a": "b c"}


def test_a_sites_wrong_setting_is_said_where_it_stands(tmp_path, settings):
    settings.SPARK_CONF = "executor.memory=1g"
    with pytest.raises(CommandError) as refused:
        SparkEngine(tmp_path).open()
    assert refused.value.field == "SPARK_CONF"
