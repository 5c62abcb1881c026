// What the code pane of a user's own rule begins with.

export const EXAMPLE = `def assign(members, partitions, status):
    # members: client -> {"topics", "owned", ...}. partitions: topic -> count. Each broker's part of the topic is
    # a topic here, "1:orders". status[topic][number]: {"lag": messages that wait, "subscribable": True or False};
    # leave the argument out if you do not need it. Returns client -> [(topic, number)].
    given = {name: [] for name in sorted(members)}
    waiting = {name: 0 for name in given}
    rows = [(row["lag"], topic, number) for topic in status for number, row in enumerate(status[topic])]
    for lag, topic, number in sorted(rows, reverse=True):
        name = min(given, key=lambda name: (waiting[name], len(given[name])))
        given[name].append((topic, number))
        waiting[name] += lag
    return given
`;
