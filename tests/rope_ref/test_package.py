"""What `rope_ref` offers: every name is there, Tab finds it, and what has moved says where it went."""

import subprocess
import sys

import pytest
from places import ROOT

import rope_ref


def fresh(code):
    """Run code in a new interpreter, where nothing has been read yet, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_tab_finds_every_name_before_it_is_read():
    listed = fresh("import rope_ref; print(*dir(rope_ref))")
    assert set(rope_ref.__all__) <= set(listed)
    assert {"absolute", "config", "faults", "positions", "scaling", "vectors", "xpos"} <= set(listed)
    assert listed == sorted(listed)


def test_every_name_is_offered_once_and_can_be_read():
    assert len(rope_ref.__all__) == len(set(rope_ref.__all__)) == 28
    assert fresh("from rope_ref import *; print(len([apply_rope, diagnose, from_config, RotaryEmbedding]))") == ["4"]
    assert all(getattr(rope_ref, name) is not None for name in dir(rope_ref))


@pytest.mark.parametrize("name", ["exercises", "figures", "training"])
def test_what_has_moved_says_where_it_went(name):
    with pytest.raises(AttributeError, match=f"rope_ref.{name} is now rope_course.{name}: import it from there"):
        getattr(rope_ref, name)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'rope_ref' has no attribute 'rotate'"):
        rope_ref.rotate  # noqa: B018
    assert not hasattr(rope_ref, "matplotlib")


def test_reference_works_where_matplotlib_and_the_rest_are_missing():
    missing = "matplotlib nbformat nbclient mpmath scipy ml_dtypes PIL IPython".split()
    code = (
        f"import sys; sys.modules |= dict.fromkeys({missing})\n"
        "import rope_ref\n"
        "for name in dir(rope_ref): getattr(rope_ref, name)\n"
        "print(rope_ref.scaling.yarn(8, factor=4, original_length=64).inv_freq.size)"
    )
    assert fresh(code) == ["4"]


def test_config_is_still_offered_by_scaling():
    assert rope_ref.scaling.from_config is rope_ref.from_config
    assert {"RopeConfig", "from_config"} <= set(rope_ref.scaling.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'spiral'"):
        rope_ref.scaling.spiral  # noqa: B018
