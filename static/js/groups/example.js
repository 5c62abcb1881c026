// What the code pane of a user's own assignor begins with.

export const EXAMPLE = `COOPERATIVE = False
def assign(members, partitions):
    # members: id -> {"topics", "owned", "generation", "instance_id", "rack"}; partitions: topic -> count
    names = sorted(members)
    given = {name: [] for name in names}
    for topic in partitions:
        for number in range(partitions[topic]):
            given[names[number % len(names)]].append((topic, number))
    return given
`;
