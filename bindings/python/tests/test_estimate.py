"""Pose and size of objects from single readings."""

import numpy as np
import pytest

import dermis
import dermis.estimate

BALL = dermis.Object.sphere(radius=10e-3)


def test_a_placement_comes_back_from_noisy_taxels():
    sensor = dermis.Sensor.preset("weiss-dsa")
    taxels = sensor.press(BALL, depth=0.8e-3, at=[2e-3, -4e-3]).taxels
    noisy = taxels + 0.01 * taxels.max() * np.random.default_rng(1).uniform(-1, 1, taxels.shape)
    found = dermis.estimate.placement(sensor, BALL, taxels=noisy)
    assert found.converged
    assert np.allclose(found.at, [2e-3, -4e-3], atol=0.1e-3)
    assert found.depth == pytest.approx(0.8e-3, rel=0.03)
    assert set(found.standard_errors) == {"x", "y", "depth"} and max(found.standard_errors.values()) < 0.1e-3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either `image`, `taxels` or `magnetic`"),
        ({"taxels": np.zeros((14, 6)), "unknowns": ["z"]}, '"z"; it may have "x"'),
        ({"taxels": np.ones((14, 6)), "unknowns": ["x", "depth", "x"]}, '`unknowns` has "x" twice'),
        ({"taxels": np.ones((14, 6)), "unknowns": ["x", "y"]}, "`depth` must be positive where it is known, got 0 m"),
        ({"taxels": np.zeros((14, 6))}, "no contact"),
        ({"taxels": np.ones(5)}, "5 taxels"),
        ({"taxels": np.full((14, 6), np.nan)}, "finite"),
        ({"image": np.zeros((4, 4))}, "(height, width, 3)"),
        ({"image": np.zeros((4, 4, 3))}, "no camera"),
        ({"taxels": np.ones((14, 6)), "yaw": float("inf")}, "finite"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(arguments, words):
    sensor = dermis.Sensor.preset("uji-foam-14x6")
    with pytest.raises(dermis.Error) as refused:
        dermis.estimate.placement(sensor, BALL, **arguments)
    assert words in str(refused.value) and "\n" not in str(refused.value)


EGG = dermis.Object.ellipsoid(semi_axes=[20e-3, 12e-3, 10e-3])
NEAR = [2.5e-3, -5e-3, 8e-3, 0.97, 0, 0, 0.243]


def test_a_pose_comes_back_from_taxels():
    sensor = dermis.Sensor.preset("uji-foam-14x6")
    reading = sensor.press(EGG, depth=2e-3, at=[3e-3, -5e-3], yaw=0.4)
    found = dermis.estimate.pose(sensor, EGG, NEAR, taxels=reading.taxels)
    assert found.converged and found.explained > 0.999 and found.presses > 12
    assert np.allclose(found.pose, reading.pose, atol=[[1e-3] * 3 + [20e-6]] * 4)
    assert np.allclose(found.force, reading.force, rtol=1e-2, atol=1e-3)
    fixed = dermis.estimate.pose(sensor, EGG, NEAR, taxels=reading.taxels, fixed=["about-x", "about-y"])
    assert fixed.rotation_errors[:2] == (0.0, 0.0) and fixed.rotation_errors[2] > 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"near": NEAR}, "either `image`, `taxels` or `magnetic`"),
        ({"near": NEAR[:4], "taxels": np.ones((14, 6))}, "(4, 4), (7,) or (3,)"),
        ({"near": NEAR, "taxels": np.ones((14, 6)), "fixed": ["yaw"]}, '"about-z"'),
        ({"near": NEAR, "taxels": np.zeros((14, 6))}, "no contact"),
    ],
)
def test_bad_poses_are_refused_in_one_sentence(arguments, words):
    with pytest.raises(dermis.Error) as refused:
        dermis.estimate.pose(dermis.Sensor.preset("uji-foam-14x6"), EGG, **arguments)
    assert words in str(refused.value) and "\n" not in str(refused.value)
