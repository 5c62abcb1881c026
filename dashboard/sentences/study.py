"""Words of one study: its progress, its result, and why a strategy has its place. Codes of reasons are the
core's."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

STUDY = {
    # State and progress
    "state.queued": _("waiting"),
    "state.running": _("running"),
    "state.done": _("done"),
    "state.cancelled": _("cancelled"),
    "study.queued": _("Waiting in the queue"),
    "study.queued_more": _(
        "{place?It is next|Position {place} in the queue}. Studies run one at a time, and owners take turns."
    ),
    "study.running": _("The study is running"),
    "study.running_more": _("You can leave this page: the study continues, and this link leads back to it."),
    "study.failed": _("The study failed"),
    "study.failed_more": _(
        "No partial result was kept. Correct what the message names and start again: the form is filled in "
        "as before."
    ),
    "study.fault_more": _(
        "No partial result was kept. The form is correct: the fault is in Highwater; see the log of its "
        "analysis worker."
    ),
    "study.cancelled": _("The study was cancelled"),
    "study.cancelled_more": _("Nothing of it was kept. Start it again unchanged, or with changes."),
    "study.again": _("Change and run again"),
    "study.cancel": _("Cancel the study"),
    "study.cancelling": _("Cancelling"),
    "study.progress": _("Progress"),
    "study.stage": _("stage"),
    "study.tasks": _("tasks"),
    "study.rows": _("rows"),
    "study.rate": _("rows a second"),
    "study.time": _("running for"),
    "study.of": _("{done} of {total}"),
    "study.no_worker": _(
        "No analysis worker is responding. The study starts automatically once one is back."
    ),
    "stage.queued": _("Waiting"),
    "stage.preparing": _("Preparing"),
    "stage.starting_spark": _("Starting Spark: a few seconds, once"),
    "stage.cancelling": _("Cancelling"),
    "stage.first_window": _("No window yet: Spark is counting the first records."),
    "stage.no_window": _("No window yet: no new record has come."),
    "stage.streaming": _("Counting what comes"),
    "stage.waiting": _("Nothing new since the newest window"),
    "stage.lab_paused": _("The lab is paused: windows come while it plays."),
    "stage.reading": _("Read the records"),
    "stage.grouping": _("Group them by key"),
    "stage.routing": _("Route the keys through every strategy"),
    "stage.lab": _("Run the lab on a sample to measure times"),
    "stage.writing": _("Write the result"),
    "fresh.done": _("done"),
    "fresh.failed": _("failed"),
    "fresh.cancelled": _("cancelled"),
    "fresh.queued": _("waiting"),
    "fresh.polling": _("checking every 2 s"),
    "fresh.study": _("Whether this page receives every change at once"),
    # Head
    "study.best": _("{strategy} fits {records} best"),
    "study.best_equal": _("{strategy} and {count} more fit {records} best"),
    "study.best_none": _("No strategy meets every constraint on {records}"),
    "study.one": _("{strategy}, measured on {records}"),
    # Before the ranking: what no strategy can change. hot: keys with their shares
    "feasible.key": _("{key} ({share})"),
    "feasible.more": _("{count} more {count?key|keys}"),
    "feasible.fits": _(
        "No key is too hot: the hottest has {share} of the records, an even share of {consumers} consumers is "
        "{even}."
    ),
    "feasible.hot": _(
        "With {consumers} consumers, the hot {count?key|keys} {hot} {count?leaves|leave} at most {of_use} of "
        "use: a key has one consumer, so skew is at least {skew}. Split the {count?key|keys}, give "
        "{count?it|them} a topic of {count?its|their} own, or give up order for {count?it|them}."
    ),
    "feasible.warm": _(
        "With {consumers} consumers, {hot} {count?has|have} more than an even share: skew is at least {skew} "
        "under every strategy that gives a key one consumer."
    ),
    "feasible.few": _(
        "With {consumers} consumers, {together} of the {among} hottest keys must share one: it gets at least "
        "{share} of the records, so at most {of_use} consumers are of use and skew is at least {skew}. A finer "
        "key helps; more consumers only if there is one for each hot key."
    ),
    "feasible.hot_rate": _(
        "Key {hot} alone brings {brings} records a second, and a consumer takes {takes}: its lag grows for "
        "good under every strategy that gives a key one consumer."
    ),
    "feasible.too_few": _(
        "{rate} records a second arrive, and {consumers} {consumers?consumer takes|consumers take} {takes}: no "
        "strategy keeps up. At least {least} consumers are needed."
    ),
    "study.these.flights": _("these flights"),
    "study.these.records": _("these records"),
    "study.these.keys": _("these keys"),
    "study.facts": _(
        "{records} {noun}, {keys} {keys_noun}, {strategies} {strategies?strategy|strategies}, "
        "{changes} membership {changes?change|changes}"
    ),
    "study.facts_range": _(", {low} to {high} consumers"),
    "study.facts_steady": _(", {low} {low?consumer|consumers}"),
    "study.no_keys": _("{no_key} {no_key?record|records} without a key and {empty_key} with an empty one."),
    "study.unowned": _(
        "Under {strategies}, up to {share} of the records have no consumer after a change: they wait. "
        "Skew and shares cover the rest."
    ),
    "study.keyless_spread": _(
        "In Kafka and TubeMQ, where records without a key go depends on their order, which this study "
        "did not follow: "
        "they are spread evenly over the partitions."
    ),
    "study.made": _("{when}, took {took_us}"),
    "study.compare": _("Compare"),
    "study.compare_with": _("Compare with another study"),
    "study.compare_none": _("You have no other finished study yet."),
    "study.share": _("Share link"),
    "study.share_title": _("Copy the link to this study: whoever opens it sees the same result and weights"),
    "study.open": _("Open as a lab"),
    "study.open_title": _(
        "On the Stage: a sample of these records by key with the same skew, the same changes in the same "
        "order, the chosen strategy and "
        "the best one of each other model"
    ),
    "study.opening": _("Preparing the lab"),
    "study.wait": _("The result is loading."),
    "study.unread": _("The result could not be loaded."),
    "study.retry": _("Try again"),
    # Ranking
    "rank.title": _("Ranking"),
    "rank.place": _("place"),
    "rank.strategy": _("strategy"),
    "rank.score": _("score"),
    "rank.skew": _("worst skew"),
    "rank.churn": _("churn"),
    "rank.pause": _("pause"),
    "rank.stood": _(
        "Total time that partitions were paused; the score counts the share of records that waited"
    ),
    "rank.lag": _("lag"),
    "rank.lag_title": _(
        "The most records that waited after a change, and the longest time until that backlog was worked off; "
        "it stays where a step was too short for that"
    ),
    "rank.lag_never": pgettext_lazy("backlog", "stays"),
    "rank.band.names": _(
        "Skew over {draws} draws of the consumers' names, 5th to 95th percentile: a ring places them by name"
    ),
    "rank.band.partitions": _(
        "Skew over {draws} partition counts nearby, 5th to 95th percentile: the count decides which keys meet"
    ),
    "rank.order": _("order at risk"),
    "rank.why": _("why"),
    "rank.pick": _("Show {strategy} in the charts and how to set it up"),
    "rank.document": _("as in the article"),
    # Why a strategy has its place, one or two sentences: points lost by term, then what it does best. value:
    # its own figure, other: that of the nearest. `_zero`: its own is 0; `_shared`: others have the same
    "why.two": pgettext_lazy("sentences", "{first} {second}"),
    "why.only": _("The only strategy of this study."),
    "why.only.left": _("The only strategy that meets every constraint."),
    "why.excluded": _("Excluded: {parts}."),
    "why.excluded.keeps_order": _(
        "{count} {count?record|records} at risk of leaving per-key order ({value})"
    ),
    "why.excluded.keeps_order_unowned": _(
        "no key has a fixed owner, so nothing keeps its order ({value} of the records at risk)"
    ),
    "why.excluded.keeps_up": _(
        "{consumer} gets {gets} records a second and takes {takes}: its lag grows for good"
    ),
    "why.excluded.keeps_up_many": _(
        "{count} consumers get more than they take ({consumer}: {gets} records a second, it takes {takes}): "
        "their lag grows for good"
    ),
    "why.excluded.keeps_up_together": _(
        "{gets} records a second arrive, and its consumers take {takes}: the lag grows for good"
    ),
    "why.excluded.no_idle": _(
        "{partitions} {partitions?partition|partitions} for {consumers} consumers: {count} "
        "{count?is|are} idle"
    ),
    "why.excluded.drain_s_max": _("a backlog took {value} s to work off, at most {limit} s allowed"),
    "why.excluded.drain_s_max_never": _(
        "after {count} {count?change|changes} the backlog was not worked off, at most {limit} s allowed"
    ),
    "why.excluded.wait_s_max": _(
        "{value} of the records waited longer than {seconds} s, at most {limit} % allowed"
    ),
    "why.excluded.skew_max": _("skew {value}, at most {limit} allowed"),
    "why.equal": _("As good as {than} in everything that counts."),
    "why.tied.differs": _("Same score as {than}: ahead in {ahead}, behind in {behind}."),
    "why.tied.ahead": _("Same score as {than}, a little ahead in {ahead}."),
    "why.tied.behind": _("Same score as {than}, a little behind in {behind}."),
    "why.pair": _("{term} ({value} to {other})"),
    "why.lost": _("Points lost: {parts}."),
    "why.lost.none": _("Loses no point."),
    "why.lost.skew": _("{points} for skew {value}"),
    "why.lost.churn": _("{points} for churn {value}"),
    "why.lost.churn_step": _("{points} for churn {value} ({step} alone moves {step_share})"),
    "why.lost.pause": _("{points} for pause {value}"),
    "why.lost.order": _("{points} for order at risk {value}"),
    "why.lost.order_unowned": _("{points} for order at risk {value} (a key has no fixed owner)"),
    "why.best.skew": _("Most even: {value}, then {than} {other}."),
    "why.best.skew_shared": _("None is more even: {value}."),
    "why.best.churn": _("Moves least: {value}, then {than} {other}."),
    "why.best.churn_shared": _("None moves less: {value}."),
    "why.best.churn_zero": _("No key moves."),
    "why.best.churn_unowned": _("No key has an owner, so none moves."),
    "why.best.pause": _("Waits least: {value}, then {than} {other}."),
    "why.best.pause_shared": _("None waits less: {value}."),
    "why.best.pause_zero": _("No record has to wait."),
    "why.best.order": _("Least order at risk: {value}, then {than} {other}."),
    "why.best.order_shared": _("None has less order at risk: {value}."),
    "why.best.order_zero": _("Every key stays in order."),
    "why.near": _("Closest to the best in {term}: {value}, where {than} has {other}."),
    # How sure the ranking is
    "verdict.ahead": _("{id} is {points} points ahead of {than}; up to {margin} would be a tie."),
    "verdict.tied": _(
        "{id} is only {points} points ahead of {than}: a tie, as another sample can move a score by {margin} "
        "points."
    ),
    "verdict.luck": _(
        "{id} is {points} points ahead of {than}, but that may be luck: with other consumer names or partition "
        "counts either may lead."
    ),
    "verdict.level": _("{id} and {than} have the same score: what matters more to you decides between them."),
    "verdict.only": _("{id} alone meets every constraint, of {count} strategies."),
    "verdict.none": _("Every strategy is excluded. “{constraint}” excludes most: {excluded} of {count}."),
    # What must hold
    "constraints.title": _("What must hold"),
    "constraints.hint": _(
        "A strategy that breaks one is listed below the others, without a place. An empty field sets no "
        "limit. A record waits from its arrival until a consumer turns to it. A consumer keeps up if it gets "
        "no more than it takes, at the study's rates, after the last change."
    ),
    "constraint.keeps_order": _("per-key order must hold"),
    "constraint.keeps_up": _("every consumer keeps up"),
    "constraint.no_idle": _("no consumer is idle for want of partitions"),
    "constraint.drain_s_max": _("backlog worked off within a limit"),
    "constraint.drain_s_max.label": _("backlog worked off within (s)"),
    "constraint.wait_s_max": _("records wait no longer than a limit"),
    "constraint.wait_percent_max": _("share of records that may wait longer"),
    "constraint.skew_max": _("skew at most a limit"),
    "constraint.wait_s_max.label": _("records wait at most (s)"),
    "constraint.wait_percent_max.label": _("but this share may wait longer (%)"),
    "constraint.skew_max.label": _("worst skew, at most"),
    "weights.title": _("What matters to you"),
    "weight.skew": _("skew"),
    "weight.churn": _("churn"),
    "weight.pause": _("pause"),
    "weight.order": _("order"),
    "weights.equal": _("At least one weight must be above 0; the ranking is unchanged."),
    "weights.stale": _("The server did not respond; the ranking uses the last weights it received."),
    "define": _(
        "Skew: busiest consumer against the mean, worst step. Churn: keys moved, 1 = all keys once. "
        "Pause: share of the records that arrived "
        "while no consumer could take them; where there are partitions, also their total paused time. "
        "Order: records of a key in flight at two "
        "consumers."
    ),
    "define.sample": _(
        "Pause and order were measured in the lab, on {records} records of {keys} keys at {rate} a "
        "second; pause counts those after the "
        "first change. The measures are rates and ratios."
    ),
    "use.title": _("To use it"),
    "use.suits": _(
        "For {consumers} consumers and these keys, {count?this partition count suits|these partition counts "
        "suit}: {counts} (skew {skew})."
    ),
    "use.none": _("There are no configuration lines for this rule yet."),
    "use.excluded": _("It breaks a constraint that you set; its configuration is below all the same."),
    "use.copy": _("Copy"),
    "use.copied": _("Copied"),
    "use.document": _("This rule is the article's; no released system supports it."),
    # Charts
    "chart.csv": "CSV",
    "chart.parquet": "Parquet",
    "chart.twin": _("Table"),
    "chart.as_chart": _("Chart"),
    "chart.twin_title": _("Show this chart as a table (T: all charts)"),
    "chart.download": _("{title}: data as {format}"),
    "chart.loading": _("The chart is drawn when you scroll near it."),
    "chart.broken": _("The chart could not be loaded; the table has the same data."),
    "chart.comma": pgettext_lazy("title", ", "),
    "chart.step": _("After"),
    "chart.previous": _("Previous change"),
    "chart.next": _("Next change"),
    "chart.cut": _("{shown} of {count} strategies, the best by rank"),
    "chart.cut_picked": _("{shown} of {count} strategies, the best by rank and the chosen one"),
    "step.start": _("the start, {count} {count?consumer|consumers}"),
    "step.join": _("{consumer} joined"),
    "step.leave": _("{consumer} left"),
    "step.crash": _("{consumer} crashed"),
    "step.slow": _("{consumer} slowed to {rate} a second"),
    "step.rejoin": _("{consumer} came back"),
    "step.numbered": _("{step}: {what}"),
    "shares.title": _("Share per consumer"),
    "shares.sub": _("One dot per consumer; the line is the fair share."),
    "shares.fair": _("fair {share}"),
    "shares.axis": _("% of records"),
    "shares.all": _("all {count}"),
    "shares.more": _("and {count} more"),
    "heat.title": _("Keys moved by each change, %"),
    "heat.sub": _("Of the keys seen by then, the share that changed owner."),
    "heat.change": _("change"),
    "heat.consumers": _("consumers"),
    "heat.untaken": _(
        "With {strategies} no consumer took over from {consumers}: no key moved, but the records wait "
        "until their consumer is back."
    ),
    "heat.bytes": _("{strategy}, of all bytes"),
    "heat.cell": _("{strategy}, {label}: {share} of keys"),
    "churn.title": _("Churn so far"),
    "churn.sub": _("1 = every key moved once."),
    "churn.axis": _("changes"),
    "keys.title": _("Hottest keys, records"),
    "keys.none": _("no key"),
    "keys.empty": _("empty key"),
    "keys.sub": _("The hottest key is {share} of all."),
    "keys.key": _("key"),
    "keys.records": _("records"),
    "keys.share": _("share"),
    "keys.owner": _("owner after the last change"),
    "keys.binary": _("{hex}, as bytes"),
    "lag.title": _("Lag after the change"),
    "lag.sub": _(
        "Records that wait, by the seconds since the change, on the lab's sample; the number at a line's end "
        "is how many wait then."
    ),
    "lag.axis": _("seconds after the change"),
    "lag.none": _("No record had to wait after this change."),
    "twin.strategy": _("strategy"),
    "twin.count": _("records"),
    "twin.keys": _("keys"),
    "twin.skew": _("skew"),
    "shares.unowned": _("no consumer: {shares}"),
    "twin.unowned": _("no consumer"),
    "twin.moved": _("keys moved"),
    # A live study
    "live.title": _("Live: {name}"),
    "live.sub": _("In windows of event time, as Spark counts them."),
    "live.about_lab": _("Lanes of a lab have no replicas: there is no high-watermark lag to show."),
    "live.about_log": _(
        "A log shows what was appended, by topic and partition; skew is the busiest partition against "
        "the mean. It has no consumers, so it "
        "shows neither their lag nor the cost of a rebalance."
    ),
    "live.no_marks": _(
        "This folder has no replication-offset-checkpoint, so the records above the high watermark are "
        "unknown."
    ),
    "live.damaged": _(
        "{damaged} {damaged?batch|batches} of the log cannot be read: what {damaged?it holds|they hold} is "
        "in no window."
    ),
    "live.late": _(
        "At least {late} {late?record|records} came more than ten seconds late and {late?is|are} in no "
        "window."
    ),
    "live.throughput": _("Throughput, records a second"),
    "live.lag": _("Lag, records"),
    "live.skew": _("Skew"),
    "live.hw_lag": _("High-watermark lag, records"),
    "live.rebalance_cost": _("Rebalance cost, partition-seconds"),
    "live.window": _("window"),
    "live.stop": _("Stop the live study"),
    "live.newest": _("newest window {age_us} ago"),
    "live.behind": _("{behind_s} s behind the lab"),
    "live.up_to_date": _("up to date with the lab"),
    # Two studies
    "compare.title": _("{a} against {b}"),
    "compare.differs": _("What differs"),
    "compare.same": _("Both requests are the same."),
    "compare.part": _("part"),
    "compare.source": _("data"),
    "compare.strategies": _("strategies"),
    "compare.history": _("membership"),
    "compare.service": _("rates"),
    "compare.records": _("records"),
    "compare.keys": _("keys"),
    "compare.ranking": _("Ranking of both"),
    "compare.only_a": _("only in the first"),
    "compare.only_b": _("only in the second"),
    "compare.difference": _("difference"),
    "compare.scores": _(
        "Scores use the same scales in every study; they are comparable where both use the same weights."
    ),
    "compare.points": _("{value} points"),
    "compare.points_about": _(
        "Points: percentage points, the second study minus the first. The charts below share their scales."
    ),
    "compare.a": _("first study"),
    "compare.b": _("second study"),
    "compare.pick": _("Choose two finished studies."),
    "compare.too_few": _("Two finished studies are compared here; you have {count?one|{count}}."),
    "compare.to_analyze": _("Start a study"),
    "compare.go": _("Compare"),
    "compare.swap": _("Swap"),
}
