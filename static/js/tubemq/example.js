// What the code pane of a user's own rule begins with.

export const EXAMPLE = `def assign(members, partitions):
    # members: client -> {"topics", "owned", ...}. partitions: topic -> count. Each broker's part of the topic is
    # a topic here, "1:orders". Neither lag nor subscribable state is passed. Returns client -> [(topic, number)].
    names = sorted(members)
    given = {name: [] for name in names}
    for topic in partitions:
        for number in range(partitions[topic]):
            given[names[number % len(names)]].append((topic, number))
    return given
`;
