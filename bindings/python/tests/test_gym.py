"""Touch in Gymnasium: the wrapper, and the two environments with policies that solve them."""

import copy
import pickle
import types
import warnings

import numpy as np
import pytest

import dermis

mujoco = pytest.importorskip("mujoco")
gymnasium = pytest.importorskip("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import dermis.gym  # noqa: E402

NAMES = ["dermis/EdgeFollow-v0", "dermis/GraspLift-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_checker_passes(name):
    env = gymnasium.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()
    image = gymnasium.make(name, render_mode="rgb_array")
    image.reset(seed=1)
    assert image.render().dtype == np.uint8


@pytest.mark.parametrize("name", NAMES)
def test_actions_that_are_none_are_refused(name):
    env = gymnasium.make(name).unwrapped
    env.reset(seed=1)
    size = env.action_space.shape[0]
    for action in ([np.nan] * size, [0.0] * (size + 1), [np.inf] + [0.0] * (size - 1)):
        with pytest.raises(ValueError, match=f"`action` must be {size} finite numbers from -1 to 1, got"):
            env.step(np.array(action, np.float32))
    env.step(np.zeros(size, np.float32))
    env.close()


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

    mujoco = mujoco

    def __init__(self, dictionary=False):
        self.dictionary = dictionary
        self.model = mujoco.MjModel.from_xml_string(FINGER)
        self.model.opt.gravity[:] = 0
        self.data = mujoco.MjData(self.model)
        box = gymnasium.spaces.Box(-10, 10, (7,), np.float32)
        self.observation_space = gymnasium.spaces.Dict({"state": box}) if dictionary else box
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def observe(self):
        state = self.data.qpos.astype(np.float32)
        return {"state": state} if self.dictionary else state

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
    env = dermis.gym.TactileObservation(Bare(), {"preset": "uji-foam-14x6", "site": "pad", "mode": "sense"})
    observation, _ = env.reset(seed=1)
    assert set(observation) == {"observation", "tactile"} and observation["tactile"].shape == (14, 6)
    assert observation["tactile"].dtype == np.float32 and observation["tactile"].sum() > 0
    assert env.observation_space.contains(observation)
    after, *_ = env.step([1.0])
    assert env.observation_space.contains(after)
    again, _ = env.reset(seed=1)
    assert np.array_equal(again["tactile"], observation["tactile"])


SEVERAL = {
    "flat": {"preset": "uji-foam-14x6", "site": "pad", "output": "forces", "mode": "sense"},
    "gel": {"preset": "gelsight", "body": "finger", "pose": [0, 0, -0.85e-3], "output": "image", "resolution": (48, 64), "mode": "sense"},
    "load": {"sensor": dermis.Sensor.preset("wts0614"), "site": "pad", "output": "wrench", "objects": "ball", "mode": "sense"},
}


def test_several_sensors_are_not_nested():
    """Stable-Baselines3 refuses a dictionary inside a dictionary."""
    env = dermis.gym.TactileObservation(Bare(dictionary=True), SEVERAL)
    observation, _ = env.reset(seed=1)
    assert set(observation) == {"state", "tactile_flat", "tactile_gel", "tactile_load"}
    assert observation["tactile_flat"].shape == (14, 6, 3) and observation["tactile_load"][2] < 0
    assert observation["tactile_gel"].dtype == np.uint8 and observation["tactile_gel"].shape == (48, 64, 3)
    assert all(part.dtype in (np.uint8, np.float32) for part in observation.values())
    assert env.observation_space.contains(observation) and not any(isinstance(space, gymnasium.spaces.Dict) for space in env.observation_space.values())
    dragged, *_ = env.step([1.0])
    assert dragged["tactile_flat"][..., 0].sum() > 0 and set(env.attachments) == set(observation) - {"state"}


@pytest.mark.parametrize("spec", [{"preset": "uji-foam-14x6", "site": "pad", "mode": "sense"}, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("library", ["gymnasium", "stable_baselines3"])
def test_checkers_pass_without_warnings(library, spec):
    checker = check_env
    if library == "stable_baselines3":
        checker = pytest.importorskip("stable_baselines3.common.env_checker").check_env
    if library == "stable_baselines3":  # takes arrays of two dimensions for images
        spec = {**spec, "flat": True} if "preset" in spec else {**spec, "flat": {**spec["flat"], "flat": True}}
    env = dermis.gym.TactileObservation(Bare(), spec)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium's checker says of every wrapper that it is one.
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message="contact comes within")  # of the gel, whose ball is large
        checker(env, skip_render_check=True)


DUPLICATES = {"deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}


@pytest.mark.parametrize("how", DUPLICATES)
@pytest.mark.parametrize("mode", ["sense", "couple"])
def test_a_wrapped_environment_can_be_copied(how, mode):
    """The copy goes on as the original does, on its own model and data."""
    env = dermis.gym.TactileObservation(Bare(dictionary=True), {"preset": "uji-foam-14x6", "site": "pad", "mode": mode, "output": "forces"})
    env.reset(seed=1)
    for action in ([1.0], [-0.5]):
        env.step(action)
    other = DUPLICATES[how](env)
    assert other.unwrapped.data is other.attachments["tactile"].data is not env.unwrapped.data
    for action in ([1.0], [0.3], [-1.0]):
        (one, *_), (two, *_) = env.step(action), other.step(action)
        assert np.array_equal(one["tactile"], two["tactile"]) and one["tactile"].any()
        assert np.array_equal(one["state"], two["state"])
    env.step([1.0])
    assert np.array_equal(other.reset(seed=1)[0]["tactile"], env.reset(seed=1)[0]["tactile"])


@pytest.mark.parametrize("how", DUPLICATES)
@pytest.mark.parametrize("name", NAMES)
def test_environments_can_be_copied(name, how):
    env = gymnasium.make(name)
    env.reset(seed=3)
    actions = [np.array([0.9, 0.0, 0.0][: env.action_space.shape[0]], np.float32)] * 34
    for action in actions[:30]:
        env.step(action)
    other = DUPLICATES[how](env)
    for action in actions[30:]:
        (one, first, *_), (two, second, *_) = env.step(action), other.step(action)
        assert np.array_equal(one["tactile"], two["tactile"]) and first == second
    assert one["tactile"].any()
    other.close()


def test_arrays_can_be_flat():
    place = {"preset": "uji-foam-14x6", "site": "pad", "mode": "sense"}
    rows, flat = (dermis.gym.TactileObservation(Bare(), {**place, "flat": flat}).reset(seed=1)[0]["tactile"] for flat in (False, True))
    assert rows.shape == (14, 6) and flat.shape == (84,) and np.array_equal(rows.ravel(), flat) and flat.max() > 0
    with pytest.raises(dermis.Error, match="`flat` of sensor 'tactile' does not apply to the output 'image'"):
        dermis.gym.TactileObservation(Bare(), {"preset": "gelsight", "body": "finger", "output": "image", "flat": True})


def test_a_lower_resolution_keeps_the_colours():
    """Areas are averaged: the mean colour of every part of the image is that of the sensor's own image."""
    place = {"preset": "gelsight", "body": "finger", "pose": [0, 0, -0.85e-3], "output": "image", "mode": "sense"}
    whole = dermis.gym.TactileObservation(Bare(), place).reset(seed=1)[0]["tactile"].astype(float)
    for height, width in ((48, 64), (100, 30)):
        small = dermis.gym.TactileObservation(Bare(), {**place, "resolution": (height, width)}).reset(seed=1)[0]["tactile"]
        assert small.shape == (height, width, 3)
        assert small.mean(axis=(0, 1)) == pytest.approx(whole.mean(axis=(0, 1)), abs=0.2)
    blocks = whole.reshape(48, 10, 64, 10, 3).mean(axis=(1, 3))
    small = dermis.gym.TactileObservation(Bare(), {**place, "resolution": np.array([48, 64])}).reset(seed=1)[0]["tactile"]
    assert np.abs(small - blocks).max() <= 0.51
    deep = dermis.gym.TactileObservation(Bare(), {**place, "output": "depth", "resolution": (24, 32)}).reset(seed=1)[0]["tactile"]
    assert deep.shape == (24, 32) and deep.dtype == np.float32 and deep.max() > 1e-4


def test_values_beyond_the_bounds_are_clipped_with_a_warning():
    env = dermis.gym.TactileObservation(Bare(), {"preset": "uji-foam-14x6", "site": "pad", "output": "wrench", "limit": 1e-3, "mode": "sense"})
    with pytest.warns(UserWarning, match="exceeds the bound 0.001 and is clipped"):
        observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation) and observation["tactile"].min() == np.float32(-1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.step([0.0])


def test_robosuites_wrapper_gets_touch_and_follows_its_hard_reset():
    """Robosuite's GymWrapper has a `sim` instead of a model and data, and a new one after each reset."""

    class Handle:
        def __init__(self, inner, name):
            setattr(self, name, inner)

    class Like(Bare):
        def __init__(self):
            super().__init__()
            self._bare = self.model, self.data
            del self.model, self.data
            self.sim = types.SimpleNamespace(model=Handle(self._bare[0], "_model"), data=Handle(self._bare[1], "_data"))

        def observe(self):
            return self.sim.data._data.qpos.astype(np.float32)

        def reset(self, *, seed=None, options=None):
            gymnasium.Env.reset(self, seed=seed)
            model = self.mujoco.MjModel.from_xml_string(FINGER)
            data = self.mujoco.MjData(model)
            data.qpos[2] -= 1e-3 if seed == 2 else 0
            self.mujoco.mj_forward(model, data)
            self.sim = types.SimpleNamespace(model=Handle(model, "_model"), data=Handle(data, "_data"))
            return self.observe(), {}

    env = dermis.gym.TactileObservation(Like(), {"preset": "uji-foam-14x6", "site": "pad", "mode": "sense"})
    first, deeper = env.reset(seed=1)[0]["tactile"], env.reset(seed=2)[0]["tactile"]
    assert deeper.sum() > 1.5 * first.sum() > 0
    old = env.attachments["tactile"]
    env.unwrapped.reset(seed=1)  # behind the wrapper's back
    env.unwrapped.model, env.unwrapped.data = env.unwrapped.sim.model._model, env.unwrapped.sim.data._data
    assert env.step([0.0])[0]["tactile"].any() and env.attachments["tactile"] is not old
    with pytest.raises(dermis.Error, match="was replaced"):
        old.read()


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
        ({"tip": {"site": "pad"}}, "sensor 'tactile_tip' needs"),
        ({"preset": "uji-foam-14x6", "site": "pad", "resolution": (4, 4)}, "`resolution` .* does not apply to the output 'taxels'"),
        ({"preset": "gelsight", "site": "pad", "output": "image", "limit": 3}, "`limit` .* does not apply"),
        ({"preset": "gelsight", "site": "pad", "output": "image", "resolution": (4000, 4)}, "at most"),
        ({"preset": "uji-foam-14x6", "site": "pad", "limit": -1}, "`limit` .* positive"),
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


def vector_environment(count=4, **options):
    pytest.importorskip("torch")
    return dermis.gym.EdgeFollowVector(count, device="cpu", **options)


def same(one, other):
    return {name: np.array_equal(np.asarray(one[name]), np.asarray(other[name])) for name in one} == dict.fromkeys(other, True)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_the_vector_environment_is_one_of_gymnasium(mode):
    """``EdgeFollowVector`` was no ``gymnasium.vector.VectorEnv``: it had no spaces, no options and no mode."""
    torch = pytest.importorskip("torch")
    mode = gymnasium.vector.AutoresetMode[mode]
    env = vector_environment(autoreset_mode=mode)
    assert isinstance(env, gymnasium.vector.VectorEnv) and env.metadata["autoreset_mode"] is mode and env.unwrapped is env
    single = gymnasium.make("dermis/EdgeFollow-v0")
    assert env.single_observation_space == single.observation_space and env.single_action_space == single.action_space
    assert env.observation_space["tactile"].shape == (4, 8, 8) and env.action_space.shape == (4, 3) and env.num_envs == 4
    observation, info = env.reset(seed=3, options={})
    first = {name: value.clone() for name, value in observation.items()}
    assert env.observation_space.contains({"tactile": observation["tactile"].numpy()})
    for key in ("offset", "success"):
        assert info[key].shape == info[f"_{key}"].shape == (4,) and info[f"_{key}"].all(), key
    env.action_space.seed(1)
    results = [env.step(env.action_space.sample()) for _ in range(3)]
    for observation, reward, terminated, truncated, info in results:
        assert env.observation_space.contains({"tactile": observation["tactile"].numpy()})
        assert reward.shape == terminated.shape == truncated.shape == (4,) and terminated.dtype == truncated.dtype == torch.bool
        assert ("final_info" in info) == (mode is gymnasium.vector.AutoresetMode.SAME_STEP)
    assert same(env.reset(seed=3)[0], first) and not same(env.reset()[0], first) and not same(env.reset(seed=4)[0], first)
    assert env.np_random_seed == 4
    with pytest.raises(dermis.Error, match="`options` must be empty"):
        env.reset(options={"reset_mask": np.ones(4, bool)})
    for wrong in (np.zeros((4, 2)), np.zeros(3)):
        with pytest.raises(dermis.Error, match=r"`actions` must have shape \(4, 3\)"):
            env.step(wrong)
    env.close()
    assert env.closed
    env.close()


def test_the_modes_of_the_vector_environment_differ_by_one_step():
    """Hands that leave their cables: in both modes the episodes are the same, until the first environment starts anew."""
    torch = pytest.importorskip("torch")
    sideways = torch.tensor([[0.0, 1.0, 0.0]]).repeat(4, 1)
    at_once, next_step = vector_environment(autoreset_mode="SameStep"), vector_environment(autoreset_mode="NextStep")
    before, now = at_once.reset(seed=1)[0]["tactile"].clone(), next_step.reset(seed=1)[0]["tactile"].clone()
    assert torch.equal(before, now)
    for _ in range(40):
        seen, reward, terminated, truncated, info = at_once.step(sideways)
        last, same_reward, same_terminated, _, later = next_step.step(sideways)
        assert torch.equal(reward, same_reward) and torch.equal(terminated, same_terminated)
        if terminated.any():
            break
        assert torch.equal(seen["tactile"], last["tactile"]) and not info["_final_info"].any()
    over = terminated
    assert over.any() and torch.equal(info["_final_info"], over) and not truncated.any()
    assert (info["final_info"]["offset"][over] > 9e-3).all() and (info["offset"][over] < 4e-3).all()
    assert torch.equal(later["offset"][over], info["final_info"]["offset"][over])
    # The last image of an episode, and the first of the next.
    last = last["tactile"].clone()
    assert (last[over] != seen["tactile"][over]).flatten(1).any(1).all()
    fresh, reward, terminated, truncated, later = next_step.step(sideways)
    assert (fresh["tactile"][over] != last[over]).flatten(1).any(1).all() and not reward[over].any() and not (terminated | truncated)[over].any()
    assert (later["offset"][over] < 4e-3).all()


def test_a_wrapper_of_gymnasium_counts_the_episodes_of_the_vector_environment():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    env = gymnasium.wrappers.vector.ArrayConversion(vector_environment(), env_xp=torch, target_xp=np)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    env.reset(seed=1)
    ended = 0
    for _ in range(20):
        *_, info = env.step(np.tile(np.float32([0, 1, 0]), (4, 1)))
        ended += int(np.sum(info.get("_episode", 0)))
    assert env.episode_count == ended > 0


@pytest.mark.parametrize("mode", ["Disabled", None, 3])
def test_a_mode_that_the_vector_environment_lacks_is_refused(mode):
    with pytest.raises(dermis.Error, match="`autoreset_mode` must be SAME_STEP or NEXT_STEP"):
        vector_environment(autoreset_mode=mode)
