"""No panic of the plugin ends the program: the callbacks are made to panic one after another."""

import ctypes

import mujoco
import pytest

from conftest import plugin_path
from test_contacts import scene

#: The numbers of `Entry` in `src/injected.rs`.
LOADING = {"state_count": 1, "sensor_count": 2, "init": 3, "copy": 5, "reset": 6}
STEPPING = {"compute": 7, "passive": 8, "advance": 9}
DESTROY = 4
IMAGE = {"image": 10, "image_copy": 11}


@pytest.fixture
def panic_in():
    """Makes the next call of an entry panic; returns the number of one that has not panicked yet."""
    function = ctypes.CDLL(str(plugin_path())).dermis_mujoco_panic_in
    yield function
    function(0)


def steps(model, data, count=50):
    for _ in range(count):
        mujoco.mj_step(model, data)


@pytest.mark.parametrize("entry", LOADING)
def test_a_panic_while_a_model_is_loaded_is_an_error(example, load, panic_in, entry):
    panic_in(LOADING[entry])
    with pytest.raises((ValueError, mujoco.FatalError), match="a panic for a test"):
        model, data = load(example("weights"))
        mujoco.mj_resetData(model, data)
        data.__copy__()
    assert panic_in(0) == 0
    steps(*load(example("weights")))


@pytest.mark.parametrize("entry", STEPPING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_panic_in_a_step_invalidates_the_reading_once(example, load, panic_in, entry):
    model, data = load(example("weights", ('value="normal"', 'value="normal valid"')))
    steps(model, data)
    panic_in(STEPPING[entry])
    steps(model, data, 1)
    assert panic_in(0) == 0
    mujoco.mj_resetData(model, data)
    steps(model, data, 20_000)
    assert data.sensordata[-1] == 1
    assert abs(data.sensordata[:-1].sum() / 9.8 - 1) < 1e-3


def test_a_panic_while_data_are_freed_is_silent(example, load, panic_in):
    model, data = load(example("weights"))
    panic_in(DESTROY)
    del data
    assert panic_in(0) == 0
    steps(*load(example("weights")))


@pytest.mark.parametrize("entry", IMAGE)
def test_a_panic_in_an_image_is_a_message(load, panic_in, entry):
    model, data = load(scene("gelsight", "sense", "wrench"))
    library = ctypes.CDLL(str(plugin_path()))
    size, message = (ctypes.c_size_t * 2)(), ctypes.create_string_buffer(200)
    call = (ctypes.c_void_p(data._address), 0, size, None, message, 200)
    panic_in(IMAGE[entry])
    assert (library.dermis_mujoco_image(*call), panic_in(0)) == (1, 0)
    assert b"a panic for a test" in message.value
    assert library.dermis_mujoco_image(*call) == 0 and size[0] > 0 and size[1] > 0, message.value
