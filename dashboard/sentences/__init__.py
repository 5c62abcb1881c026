"""Every text of the live pages, once: code -> words. Templates, present.js and the other scripts all take
their words from here.

A text may hold named places: `{consumer}` takes the parameter as it is, `{pause_us}` (a name that ends in
`_us`) a duration, a number is grouped by thousands, and `{count?record|records}` gives the first word for 1
and the second otherwise. The words of both languages travel with the page as JSON, so the language changes in
place; static/js/base/say.js fills the same places in the same way. A page carries what every page says and what is
said only there.
"""

from collections.abc import Mapping
from typing import Any

from django.utils import translation

from dashboard.sentences.algorithms import ALGORITHMS
from dashboard.sentences.analyze import ANALYZE
from dashboard.sentences.api import API, CURL
from dashboard.sentences.balance import BALANCE
from dashboard.sentences.breaking import BREAK
from dashboard.sentences.chrome import CHROME
from dashboard.sentences.cluster import CLUSTER
from dashboard.sentences.code import CODE
from dashboard.sentences.compare import COMPARE, WAYS
from dashboard.sentences.events import EVENTS
from dashboard.sentences.facts import FACTS
from dashboard.sentences.fidelity import FIDELITY, FIDELITY_LINE
from dashboard.sentences.frame import FRAME
from dashboard.sentences.glossary import GLOSSARY
from dashboard.sentences.groups import GROUPS
from dashboard.sentences.keys import KEYS
from dashboard.sentences.labs import LABS
from dashboard.sentences.lanes import LANES
from dashboard.sentences.learn import LEARN
from dashboard.sentences.lectures import LECTURES
from dashboard.sentences.lesson import LESSON
from dashboard.sentences.log import LOG
from dashboard.sentences.player import PLAYER, TO_LOOK_AT
from dashboard.sentences.predict import PREDICT
from dashboard.sentences.problems import PROBLEMS
from dashboard.sentences.queues import QUEUES
from dashboard.sentences.real_clients import REAL_CLIENTS
from dashboard.sentences.rooms import JOIN, ROOM
from dashboard.sentences.settings import PANEL, SETTINGS
from dashboard.sentences.stage import STAGE
from dashboard.sentences.strategies import STRATEGIES
from dashboard.sentences.study import STUDY
from dashboard.sentences.subscription import SUBSCRIPTION
from dashboard.sentences.take import TAKE
from dashboard.sentences.topology import TOPOLOGY
from dashboard.sentences.tubemq import TUBEMQ_ORDERS
from dashboard.sentences.why import WHY

EVERYWHERE: Mapping[str, Any] = {
    **CHROME,
    **FRAME,
    **KEYS,
    **TAKE,
    **PLAYER,
    **STAGE,
    **LANES,
    **TUBEMQ_ORDERS,
    **ALGORITHMS,
    **WAYS,
    **EVENTS,
    **FIDELITY_LINE,
    **PANEL,
    **PREDICT,
    **ROOM,
    **CURL,
    **QUEUES,
    **REAL_CLIENTS,
    **FACTS,
    **WHY,
    **GLOSSARY,
}
PAGES: Mapping[str, Mapping[str, Any]] = {
    "api": API,
    "analyze": {**ANALYZE, **STUDY, **PROBLEMS, **STRATEGIES},
    "break": BREAK,
    "cluster": {**CLUSTER, **LESSON},
    "code": {**CODE, **LESSON},
    "fidelity": FIDELITY,
    "compare": {**COMPARE, **LESSON},
    "groups": {
        **GROUPS,
        **LESSON,
        **{
            code: text
            for code, text in CLUSTER.items()
            if code.startswith(("cluster.verb.", "cluster.verb_about."))
        },
    },
    "labs": {**LABS, "break.title": BREAK["break.title"]},
    "learn": {**LEARN, **LECTURES, **LESSON},
    "log": LOG,
    "pulsar": {**SUBSCRIPTION, **LESSON},
    "rabbitmq": {**TOPOLOGY, **LESSON},
    "settings": SETTINGS,
    "room": JOIN,
    "stage": LESSON,
    "tubemq": {**BALANCE, **LESSON},
}
SENTENCES: Mapping[str, Any] = {
    **EVERYWHERE,
    **{code: text for page in PAGES.values() for code, text in page.items()},
}
LANGUAGES = ("en", "zh-hans")
TAKE_NO_ORDER = frozenset({"compare"})
"""Pages of a lab without a button that changes it."""


def catalogue(item: str | None = None, *, is_player: bool = False) -> dict[str, dict[str, str]]:
    """Language -> code -> words with their places still open. item: the page's item in the top bar; without
    it, the words of all pages. is_player: no order is taken there, so none of its words asks for it.

    >>> sorted(catalogue())
    ['en', 'zh-hans']
    """
    chosen = SENTENCES if item is None else {**EVERYWHERE, **PAGES.get(item, {})}
    if is_player or item in TAKE_NO_ORDER:
        chosen = {**chosen, **TO_LOOK_AT}
    words = {}
    for language in LANGUAGES:
        with translation.override(language):
            words[language] = {code: str(text) for code, text in chosen.items()}
    return words
