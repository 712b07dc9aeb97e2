"""Many mjData, copies, resets, saved states, threads."""

import copy
import gc
import threading

import mujoco
import numpy as np
import pytest


def run(model, data, steps):
    """Sensor data of each step."""
    seen = np.empty((steps, model.nsensordata))
    for step in range(steps):
        mujoco.mj_step(model, data)
        seen[step] = data.sensordata
    return seen


def sliding(example):
    """A cube that slides over the array before it comes to rest: bristles have a history."""
    return example("weights", ('timestep="1e-4"', 'timestep="2e-4"'), ('value="normal"', 'value="normal force"'))


def started(model):
    data = mujoco.MjData(model)
    data.qvel[:2] = [0.05, -0.03]
    return data


def test_a_reset_forgets(example, load):
    model, _ = load(sliding(example))
    data = started(model)
    first = run(model, data, 200)
    assert np.abs(first[-1]).max() > 0 and np.abs(data.plugin_state).max() > 0
    mujoco.mj_resetData(model, data)
    assert (data.plugin_state == 0).all() and (data.sensordata == 0).all()
    data.qvel[:2] = [0.05, -0.03]
    assert (run(model, data, 200) == first).all()


def test_two_sensors_of_one_model_have_their_own_state(example, load):
    """Back to back on one site: each keeps to its part of the state and of the numbers. Explicit forces are those that are sensed."""
    text = sliding(example).replace('<config key="mode"', '<config key="coupling" value="explicit"/><config key="mode"')
    start, end = text.index('    <plugin name="touch"'), text.index("  </sensor>")
    second = text[start:end].replace('name="touch"', 'name="second"').replace('value="couple"', 'value="sense"')
    model, data = load(text[:end] + second + text[end:])
    data.qvel[:2] = [0.05, -0.03]
    seen = run(model, data, 200)
    first, other = seen[:, :336], seen[:, 336:]
    assert (first == other).all() and np.abs(first[-1]).max() > 0
    mujoco.mj_resetData(model, data)
    assert (data.plugin_state == 0).all()


def test_evaluating_changes_nothing(example, load):
    model, _ = load(sliding(example))
    plain, asked = started(model), started(model)
    for _ in range(100):
        mujoco.mj_step(model, plain)
        mujoco.mj_forward(model, asked)
        mujoco.mj_forward(model, asked)
        mujoco.mj_step(model, asked)
    assert (plain.sensordata == asked.sensordata).all()
    assert (plain.plugin_state == asked.plugin_state).all()


def test_data_do_not_mix(example, load):
    model, _ = load(sliding(example))
    alone = run(model, started(model), 150)
    several = [started(model) for _ in range(4)]
    for _ in range(150):
        for data in several:
            mujoco.mj_step(model, data)
    for data in several:
        assert (data.sensordata == alone[-1]).all()


def test_a_copy_goes_its_own_way(example, load):
    model, _ = load(sliding(example))
    data = started(model)
    run(model, data, 100)
    twin = copy.copy(data)
    second = copy.copy(data)
    rest = run(model, data, 100)
    assert (run(model, twin, 100) == rest).all()
    del data, twin
    gc.collect()
    assert (run(model, second, 100) == rest).all()


def test_a_copy_into_data_that_are_there_replaces_them(example, load):
    model, _ = load(sliding(example))
    data, into = started(model), started(model)
    run(model, data, 100)
    run(model, into, 33)
    if not hasattr(mujoco, "mj_copyData"):
        pytest.skip("this version has no mj_copyData in Python")
    mujoco.mj_copyData(into, model, data)
    rest = run(model, data, 100)
    assert (run(model, into, 100) == rest).all()


def test_a_saved_state_brings_the_bristles_back(example, load):
    model, _ = load(sliding(example))
    data = started(model)
    run(model, data, 100)
    kind = mujoco.mjtState.mjSTATE_INTEGRATION
    saved = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, saved, kind)
    rest = run(model, data, 100)
    for other in (data, mujoco.MjData(model)):
        mujoco.mj_setState(model, other, saved, kind)
        assert (run(model, other, 100) == rest).all()


def test_threads_give_the_same_numbers(example, load):
    model, _ = load(sliding(example))
    alone = run(model, started(model), 300)
    results = {}

    def work(name):
        results[name] = run(model, started(model), 300)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all((result == alone).all() for result in results.values())


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


def test_making_and_deleting_leaks_nothing(example, load):
    """1,000 cycles of data, 50 of models; resident memory stays within 5 MB."""
    text = sliding(example)
    model, _ = load(text)

    def cycle():
        data = started(model)
        run(model, data, 2)
        twin = copy.copy(data)
        run(model, twin, 1)

    def cycle_of_models():
        other, data = load(text)
        mujoco.mj_step(other, data)

    for _ in range(100):
        cycle()
    for _ in range(5):
        cycle_of_models()
    gc.collect()
    before = resident_bytes()
    for _ in range(1000):
        cycle()
    for _ in range(50):
        cycle_of_models()
    gc.collect()
    grown = resident_bytes() - before
    print(f"grown by {grown / 1e6:.2f} MB")
    assert grown < 5e6


def test_other_integrators_hold_the_weight_too(example, load):
    for integrator in ("RK4", "implicit", "implicitfast"):
        model, data = load(example("weights", ('<option timestep="1e-4"', f'<option timestep="1e-4" integrator="{integrator}"')))
        run(model, data, 5000)
        assert abs(data.sensordata.sum() / 9.8 - 1) < 1e-3, integrator
