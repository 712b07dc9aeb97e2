"""Worlds, scenes, calibration, metrics and experiments."""

import json
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import dermis
from dermis import calibration, experiments, metrics

SCENE = """
[world]
duration = "0.4 s"
time_step = "0.5 ms"

[[body]]
name = "cube"
motion = "free"
mass = "100 g"
shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]
at = ["0 mm", "0 mm", "10 mm"]

[[sensor]]
name = "pad"
preset = "uji-foam-14x6"
skin.damping = "2 N s/m"
"""


def test_implicit_coupling_of_a_layer_ran_explicit():
    implicit = SCENE.replace("[world]", '[world]\ncoupling = "implicit"')
    dermis.World.parse(implicit).step()
    with pytest.raises(ValueError, match="`coupling` = .*\"pad\".*only springs and hydroelastic"):
        dermis.World.parse(implicit.replace('"uji-foam-14x6"\nskin.damping = "2 N s/m"', '"wts0614-layer"'))
    world = dermis.World(coupling="implicit")
    world.add_body("table")
    world.mount("pad", dermis.Sensor.preset("wts0614-layer"), body="table")
    with pytest.raises(ValueError, match="`coupling`"):
        world.step()


def test_a_scene_weighs_what_lies_on_it():
    world = dermis.World.parse(SCENE)
    assert world.bodies[0] == "cube" and world.sensors == ["pad"]
    recording = world.run()
    assert len(recording) == len(recording.times) and recording.times[-1] == pytest.approx(0.4)
    assert recording.taxels("pad").shape == (len(recording), 84)
    assert recording.force("pad")[-1, 2] == pytest.approx(-0.981, rel=1e-3)
    assert recording.positions("cube")[0] == pytest.approx([0, 0, 0.01])
    reading = world.reading("pad")
    assert reading.force[2] == pytest.approx(-0.981, rel=1e-3) and reading.taxels.shape == (14, 6)
    assert world.load_on("cube", sensor="pad")[2] == pytest.approx(0.981, rel=1e-3)
    assert np.array_equal(pickle.loads(pickle.dumps(reading)).forces, reading.forces)


def test_a_world_issues_the_warnings_of_its_skins_and_bodies():
    coarse = SCENE.replace('preset = "uji-foam-14x6"', 'preset = "uji-foam-14x6"\ncontact_points = 1')
    strained = coarse + 'skin.max_penetration = "10 um"\n'
    with pytest.warns(RuntimeWarning, match='"pad": .*exceed the maximum penetration'):
        recording = dermis.World.parse(strained).run(duration=0.02)
    assert any("maximum penetration" in text for text in recording.warnings)
    world = dermis.World.parse(strained)
    with pytest.warns(RuntimeWarning, match='"pad": .*exceed the maximum penetration'):
        world.step(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.step(1)  # each kind once
    with pytest.warns(RuntimeWarning, match="left the scene"):
        dermis.World.parse(coarse.replace('at = ["0 mm"', 'at = ["200 mm"')).run(duration=1.5)


def test_a_contact_that_begins_with_few_points_does_not_nag():
    """A ball touches few contact points first, and enough at its full load; on a coarse array it never does."""
    ball = SCENE.replace('shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]', 'shape.sphere.radius = "20 mm"')
    ball = ball.replace('at = ["0 mm", "0 mm", "10 mm"]', 'at = ["0 mm", "0 mm", "20.01 mm"]')
    world = dermis.World.parse(ball)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = 0
        for _ in range(200):
            world.step()
            few += len(world.reading("pad").touch.warnings)
    assert few > 0, "the contact begins with few points"
    world = dermis.World(gravity=(0, 0, 0))
    world.add_body("ball", dermis.Object.sphere(radius=6e-3), motion="driven", pose=[0, 0, 6e-3])
    world.add_body("table")
    world.mount("pad", dermis.Sensor.preset("uji-foam-14x6", parameters={"contact_points": 1}), body="table")
    world.set_twist("ball", [0, 0, -10e-3, 0, 0, 0])
    with pytest.warns(RuntimeWarning, match='"pad": .*contact points') as issued:
        for step in range(180):
            if step == 150:
                world.set_twist("ball", np.zeros(6))
            world.step()
    assert len(issued) == 1, [str(warning.message) for warning in issued]


def test_an_object_held_between_contact_points_is_found_in_a_world():
    world = dermis.World(gravity=(0, 0, 0))
    world.add_body("pin", dermis.Object.sphere(radius=1e-3), pose=[0, 0, 0.5e-3])
    world.add_body("table")
    world.mount("pad", dermis.Sensor.preset("uji-foam-14x6", parameters={"contact_points": 1}), body="table")
    with pytest.warns(RuntimeWarning, match='"pad": an object lies between the contact points'):
        world.step(40)
    assert world.reading("pad").touch.warnings, "also between two searches"


def test_a_world_of_ones_own_does_the_same():
    world = dermis.World(time_step=0.5e-3)
    cube = dermis.Object.box(size=[20e-3, 40e-3, 20e-3])
    world.add_body("cube", cube, motion="free", mass=0.1, pose=[0, 0, 10e-3])
    world.add_body("table")
    world.mount("pad", dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"damping": "2 N s/m"}}), body="table")
    world.step(200)
    assert world.time == pytest.approx(0.1) and world.stable_step > world.time_step
    truth = dermis.World.parse(SCENE)
    truth.step(200)
    assert world.reading("pad").taxels == pytest.approx(truth.reading("pad").taxels, abs=1e-6)
    assert world.pose("cube")[:3, 3] == pytest.approx(truth.pose("cube")[:3, 3], abs=1e-8)


def test_the_energy_of_a_world_is_balanced():
    """The cube falls by its depth at rest d = m g / k: the skin keeps half of m g d, damping takes the other half."""
    world = dermis.World.parse(SCENE)
    world.step(600)
    energy = world.energy
    lost = -energy["potential"]
    assert lost > 0 and energy["elastic"] == pytest.approx(0.5 * lost, rel=0.02)
    assert energy["damping"] + energy["friction"] == pytest.approx(0.5 * lost, rel=0.02)
    assert abs(energy["residual"]) < 0.01 * lost


def test_a_driven_body_moves_as_told():
    world = dermis.World(gravity=(0, 0, 0))
    world.add_body("hand", motion="driven")
    world.set_twist("hand", [0.1, 0, 0, 0, 0, 0])
    world.step(100)
    assert world.pose("hand")[0, 3] == pytest.approx(0.01) and world.twist("hand")[0] == pytest.approx(0.1)


def test_others_may_look_while_a_world_runs():
    world = dermis.World.parse(SCENE)
    times = []
    runner = threading.Thread(target=lambda: [world.step(30) for _ in range(6)])
    runner.start()
    while runner.is_alive():
        times.append(world.time)
    runner.join()
    assert times == sorted(times) and len(times) > 5 and world.time == pytest.approx(0.09)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda w: w.pose("cub"), 'no body "cub"; the bodies are "cube"'),
        (lambda w: w.reading("pat"), 'no sensor "pat"; the sensors are "pad"'),
        (lambda w: w.run(duration=-1), "`duration`"),
        (lambda w: w.add_body("cube"), "cube"),
        (lambda w: w.add_body("b", motion="free"), "needs `obj` and `mass`"),
        (lambda w: w.add_body("b", motion="lazy"), "`motion`"),
        (lambda w: w.add_body("b", pose=[0, 0, float("nan")]), "`pose`"),
        (lambda w: w.mount("pad", dermis.Sensor.preset("wts0614"), body="cube"), "two sensors"),
        (lambda w: w.set_twist("cube", [1]), "`twist`"),
        # It was accepted, and nothing moved.
        (lambda w: w.set_twist("mount of pad", [1, 0, 0, 0, 0, 0]), "body \"mount of pad\" is fixed: add it with motion="),
        (lambda w: dermis.World(time_step=0), "`time_step`"),
        (lambda w: dermis.World(ground=float("nan")), r"`ground` must be a height \(m\), got NaN"),
        (lambda w: dermis.World(ground_friction=-1), "`ground_friction`"),
        (lambda w: dermis.World.parse("[world]"), "duration"),
    ],
)
def test_worlds_refuse_and_go_on(call, words):
    world = dermis.World.parse(SCENE)
    with pytest.raises(dermis.Error, match=words):
        call(world)
    world.step()
    assert world.time > 0


def test_a_missing_scene_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        dermis.World.load(tmp_path / "nowhere.toml")
    path = tmp_path / "scene.toml"
    path.write_text(SCENE)
    assert dermis.World.load(path).sensors == ["pad"]


def test_a_bench_survives_its_files(tmp_path):
    device = dermis.Sensor.preset("digitacts-6x4")
    bench = calibration.characterise(device, indenter=4e-3, presses=1, depths=[2e-4, 6e-4], creep_time=1.0)
    calibration.save(bench, tmp_path)
    again = calibration.load(tmp_path / "presses.csv", tmp_path / "creep.csv")
    assert np.array_equal(again.raw, bench.raw) and again.depth == pytest.approx(bench.depth, rel=1e-12)
    assert np.array_equal(again.creep, bench.creep) and len(again) == len(bench)
    (tmp_path / "bad.csv").write_text("taxel,press\n0,0\n")
    with pytest.raises(dermis.Error, match="'held_s'"):
        calibration.load(tmp_path / "bad.csv")
    with pytest.raises(dermis.Error, match="sensor that was measured"):
        calibration.fit(dermis.Sensor.preset("wts0614"), bench)


def test_metrics_of_equal_and_unequal_images():
    image = np.random.default_rng(0).integers(0, 255, (40, 50, 3), np.uint8)
    same = metrics.compare(image, image)
    assert same.ssim == pytest.approx(1) and same.mae_255 == 0 and np.isinf(same.psnr_db) and same.pixels == 2000
    shifted = metrics.compare(np.full((40, 50), 100.0), np.full((40, 50), 110.0))
    assert shifted.mae_255 == pytest.approx(10) and shifted.rmse_255 == pytest.approx(10)
    assert shifted.psnr_db == pytest.approx(20 * np.log10(25.5))
    mask = np.zeros((40, 50), bool)
    mask[:10] = True
    assert metrics.compare(image, image, mask=mask).pixels == 500
    for bad in [dict(mask=np.zeros((40, 50), bool)), dict(window="square"), dict(mask=np.ones((3, 3), bool))]:
        with pytest.raises(dermis.Error):
            metrics.compare(image, image, **bad)
    with pytest.raises(dermis.Error):
        metrics.compare(image, image[:20])


def test_an_experiment_runs_and_leaves_its_figures(tmp_path):
    assert "moisio-foam" in experiments.names()
    outcome = experiments.reproduce("moisio-foam", out=tmp_path)
    assert outcome.passed and outcome.verdicts and outcome.metrics
    assert list(pathlib.Path(tmp_path).iterdir())
    with pytest.raises(dermis.Error, match="moisio"):
        experiments.reproduce("moisio-fome")


def test_a_warm_array_reads_alike_in_python_the_command_line_and_a_scene(tmp_path):
    drift = {"rise": "20 K", "gain_per_kelvin": 0.03, "offset_per_kelvin": "1 mN"}
    cold = dermis.Sensor.preset("uji-foam-14x6")
    warm = dermis.Sensor.preset("uji-foam-14x6", parameters={"response": {"gain": {"drift": drift}}})
    ball = dermis.Object.sphere(radius=10e-3)
    truth = 1.6 * cold.press(ball, depth=1e-3).reported + 0.02
    reading = warm.press(ball, depth=1e-3)
    assert reading.reported == pytest.approx(truth, abs=1e-12) and truth.max() > 0.03
    by = warm.vjp(ball, [[0, 0, 9e-3]], {"reported": np.ones((1, 14, 6))})
    unheated = cold.vjp(ball, [[0, 0, 9e-3]], {"reported": np.ones((1, 14, 6))})
    assert by["position"] == pytest.approx(1.6 * unheated["position"], rel=1e-9)
    assert by["gain"].sum() == pytest.approx(1.6 * cold.press(ball, depth=1e-3).reported.sum(), rel=1e-6)
    (tmp_path / "warm.toml").write_text(warm.toml)
    command = [sys.executable, "-m", "dermis", "press", "--sensor", tmp_path / "warm.toml", "--object", "sphere:radius=10mm"]
    done = subprocess.run([*command, "--depth", "1mm", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["reported_n"] == pytest.approx(reading.reported.ravel(), abs=1e-9)
    scene = SCENE + "response.gain.drift = { rise = \"20 K\", gain_per_kelvin = 0.03 }\n"
    worlds = [dermis.World.parse(text) for text in (scene, SCENE)]
    for world in worlds:
        world.step(200)
    hot, plain = (world.reading("pad").reported for world in worlds)
    assert hot == pytest.approx(1.6 * plain, rel=1e-9) and plain.max() > 1e-3


def test_temperatures_of_a_bench_give_the_change_of_the_gains(tmp_path):
    small = {"surface": {"grid": {"rows": 3, "cols": 3}}, "skin": {"stiffness": "500 N/m"}}
    known = dermis.Sensor.preset("uji-foam-14x6", parameters=small)
    benches = []
    for rise in ("0 K", "30 K"):
        drift = {"rise": rise, "gain_per_kelvin": 0.01}
        measured = known.with_parameters({"response": {"gain": {"drift": drift}}})
        benches.append(calibration.characterise(measured, presses=1, creep_taxels=[4]))
    assert calibration.characterise(known, presses=1).rise is None
    first, second = (bench.presses_csv() for bench in benches)
    assert first.startswith("taxel,press,held_s,depth_mm,force_N,rise_K,raw_0_counts")
    (tmp_path / "presses.csv").write_text(first + second.split("\n", 1)[1])
    (tmp_path / "creep.csv").write_text(benches[0].creep_csv())
    bench = calibration.load(tmp_path / "presses.csv", tmp_path / "creep.csv")
    assert set(bench.rise) == {0.0, 30.0}
    fit = calibration.fit(known, bench)
    found = fit.numbers["taxels"]["gain_per_kelvin"]
    assert abs(found["value"] - 0.01) < max(found["ci95"], 1e-4), found  # the readings are rounded to counts
    assert "gain_per_kelvin" in fit.sensor.toml
    command = [sys.executable, "-m", "dermis", "calibrate", "taxels", tmp_path / "presses.csv", "--sensor", "known.toml"]
    (tmp_path / "known.toml").write_text(known.toml)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "of the gain per kelvin" in done.stdout
    (tmp_path / "presses.csv").write_text(first + second.split("\n", 1)[1].replace(",30,", ",warm,", 1))
    with pytest.raises(dermis.Error, match="`rise_K` must be a number, got 'warm'"):
        calibration.load(tmp_path / "presses.csv")


@pytest.mark.parametrize("count", [-1, -(2**70), 2**70, 1.5, "1", None])
def test_a_number_of_steps_that_is_none_is_refused(count):
    """``world.step(-1)`` raised OverflowError."""
    with pytest.raises(dermis.Error, match="`count` must be a whole number of at least 0, got .*: give the number of time steps"):
        dermis.World().step(count)
