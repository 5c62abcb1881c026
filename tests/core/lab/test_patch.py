"""A view plus its patch is the next view."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.patch import diff
from tests.dashboard.patching import apply_patch

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text("ab/~", max_size=3)
    | st.sampled_from([0.0, 1.0, 0.5])
)
names = st.text("ab/~0", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(names, values, max_size=5)


@given(old=objects, new=objects)
def test_patch_turns_the_old_view_into_the_new_one(old, new):
    assert repr(sorted_keys(apply_patch(old, diff(old, new)))) == repr(sorted_keys(new))


@given(view=objects)
def test_equal_views_need_no_patch(view):
    assert diff(view, copy.deepcopy(view)) == []


def sorted_keys(value):
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value
