"""Touch in Gymnasium: the wrapper, and the two environments with policies that solve them."""

import warnings

import numpy as np
import pytest

import dermis

pytest.importorskip("mujoco")
gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import dermis.gym  # noqa: E402

NAMES = ["dermis/EdgeFollow-v0", "dermis/GraspLift-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_checker_passes(name):
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Forces have no bounds; the checker warns about infinite bounds.
        warnings.filterwarnings("ignore", message=".*(infinity|-infinity|inf).*")
        check_env(env.unwrapped)
    env.close()
    image = gymnasium.make(name, render_mode="rgb_array")
    image.reset(seed=1)
    assert image.render().dtype == np.uint8


@pytest.mark.parametrize("name", NAMES)
def test_environments_vectorise(name):
    """Several in one process go on as each would alone."""
    envs = gymnasium.make_vec(name, num_envs=3, vectorization_mode="sync")
    observation, _ = envs.reset(seed=[5, 6, 7])
    assert observation["tactile"].shape[0] == 3
    actions = np.random.default_rng(1).uniform(-1, 1, (6, 3, *envs.single_action_space.shape)).astype(np.float32)
    for action in actions:
        observation, rewards, *_ = envs.step(action)
    alone = gymnasium.make(name)
    alone.reset(seed=6)
    for action in actions:
        one, reward, *_ = alone.step(action[1])
    assert np.array_equal(one["tactile"], observation["tactile"][1])
    assert reward == rewards[1]
    envs.close()


def play(env, policy, seed, **options):
    observation, info = env.reset(seed=seed, options=options or None)
    total = 0.0
    while True:
        observation, reward, terminated, truncated, info = env.step(policy(observation))
        total += reward
        if terminated or truncated:
            return total, info


def test_the_policy_follows_the_edge():
    env = gymnasium.make(NAMES[0])
    for seed in range(5):
        total, info = play(env, dermis.gym.follow_edge, seed)
        assert info["success"] and total > 8, (seed, total, info)
    straight, info = play(env, lambda _: np.array([1, 0, 0], np.float32), 0)
    assert not info["success"] and straight < 4


def test_the_policy_lifts_light_and_heavy_blocks():
    env = gymnasium.make(NAMES[1])
    grips = []
    for seed, mass in enumerate([0.06, 0.28]):
        total, info = play(env, dermis.gym.grasp_and_lift, seed, mass=mass)
        assert info["success"] and total > 10, (mass, total, info)
        grips.append(info["grip"])
    assert grips[1] > 2 * grips[0]


def test_a_weak_grip_slips_and_a_hard_one_crushes():
    env = gymnasium.make(NAMES[1])

    def weak(observation):
        grip = float(-observation["tactile"].sum(axis=(1, 2))[:, 2].max())
        return np.array([0.0 if grip > 0.8 else 0.3, 1.0 if grip > 0.7 else 0.0], np.float32)

    _, info = play(env, weak, 0, mass=0.28)
    assert not info["success"] and info["height"] < 0.01
    total, info = play(env, lambda _: np.array([1, 0], np.float32), 0, mass=0.28)
    assert not info["success"] and info["grip"] > 12 and total < -4


FINGER = """<mujoco><worldbody><body name="finger"><site name="pad"/></body>
  <body name="ball" pos="0 0 .019"><freejoint/><geom name="ball" size=".02" mass="1"/></body></worldbody></mujoco>"""


class Bare(gymnasium.Env):
    """The least of a MuJoCo environment."""

    def __init__(self, dictionary=False):
        import mujoco

        self.mujoco, self.dictionary = mujoco, dictionary
        self.model = mujoco.MjModel.from_xml_string(FINGER)
        self.model.opt.gravity[:] = 0
        self.data = mujoco.MjData(self.model)
        box = gymnasium.spaces.Box(-np.inf, np.inf, (7,), np.float64)
        self.observation_space = gymnasium.spaces.Dict({"state": box}) if dictionary else box
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def observe(self):
        return {"state": self.data.qpos.copy()} if self.dictionary else self.data.qpos.copy()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.mujoco.mj_resetData(self.model, self.data)
        self.mujoco.mj_forward(self.model, self.data)
        return self.observe(), {}

    def step(self, action):
        self.data.qvel[0] = 0.01 * action[0]
        self.mujoco.mj_step(self.model, self.data, nstep=5)
        return self.observe(), 0.0, False, False, {}


def test_one_sensor_is_an_array():
    env = dermis.gym.TactileObservation(Bare(), {"preset": "uji-foam-14x6", "site": "pad"})
    observation, _ = env.reset(seed=1)
    assert set(observation) == {"observation", "tactile"} and observation["tactile"].shape == (14, 6)
    assert observation["tactile"].dtype == np.float32 and observation["tactile"].sum() > 0
    assert env.observation_space.contains(observation)
    after, *_ = env.step([1.0])
    assert env.observation_space.contains(after)
    again, _ = env.reset(seed=1)
    assert np.array_equal(again["tactile"], observation["tactile"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)


def test_several_sensors_are_a_dictionary():
    spec = {
        "flat": {"preset": "uji-foam-14x6", "site": "pad", "output": "forces"},
        "gel": {"preset": "gelsight", "body": "finger", "pose": [0, 0, -0.5e-3], "output": "image"},
        "load": {"sensor": dermis.Sensor.preset("wts0614"), "site": "pad", "output": "wrench", "objects": "ball"},
    }
    env = dermis.gym.TactileObservation(Bare(dictionary=True), spec)
    observation, _ = env.reset(seed=1)
    assert set(observation) == {"state", "tactile"} and set(observation["tactile"]) == {"flat", "gel", "load"}
    assert observation["tactile"]["flat"].shape == (14, 6, 3) and observation["tactile"]["load"][2] < 0
    assert observation["tactile"]["gel"].dtype == np.uint8
    assert env.observation_space.contains(observation)
    dragged, *_ = env.step([1.0])
    assert dragged["tactile"]["flat"][..., 0].sum() > 0 and set(env.attachments) == set(spec)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "names no sensor"),
        ({"preset": "uji-foam-14x6"}, "one of `site`, `body` and `geom`"),
        ({"preset": "uji-foam-14x6", "site": "pad", "sensor": None}, "one of `preset` and `sensor`"),
        ({"preset": "uji-foam-14x6", "size": 3}, "unknown key 'size'"),
        ({"preset": "uji-foam-14x6", "site": "pad", "output": "colour"}, "must be one of taxels"),
        ({"preset": "uji-foam-14x6", "site": "pad", "output": "image"}, "no camera"),
        ({"preset": "uji", "site": "pad"}, "uji"),
        ({"tip": {"site": "pad"}}, "sensor 'tip' needs"),
    ],
)
def test_slips_in_a_spec_are_named(spec, words):
    with pytest.raises(ValueError, match=words):
        dermis.gym.TactileObservation(Bare(), spec)


def test_other_environments_are_refused():
    with pytest.raises(dermis.Error, match="not a MuJoCo environment"):
        dermis.gym.TactileObservation(gymnasium.make("CartPole-v1"), {"preset": "wts0614", "site": "pad"})


def test_an_environment_of_gymnasium_gets_touch():
    """Pusher's fingertip, with nothing of the environment changed but what is observed."""
    pytest.importorskip("imageio", reason="Gymnasium's own environments need it")
    env = gymnasium.make("Pusher-v5")
    plain, _ = gymnasium.make("Pusher-v5").reset(seed=3)
    spec = {"preset": "fingertip", "body": "tips_arm"}
    touched = dermis.gym.TactileObservation(env, spec)
    observation, _ = touched.reset(seed=3)
    assert np.array_equal(observation["observation"], plain)
    for _ in range(3):
        observation, *_ = touched.step(touched.action_space.sample())
    assert touched.observation_space.contains(observation)
