"""Trains a policy with touch and one with touch zeroed (cross-entropy method), and scores both on episodes that neither has seen.

    python train_policy.py [dermis/EdgeFollow-v0 | dermis/GraspLift-v0] [rounds]

Policies are linear in a few features: load, center and orientation of the contact on each array, and the position of the hand."""

import sys
from typing import Any

import dermis.gym  # registers the environments
import gymnasium
import numpy as np
from numpy.typing import NDArray

TRIES, BEST, TEMPERATURE = 16, 4, 2.0


def features(observation: dict[str, NDArray[np.float64]], touch: bool) -> NDArray[np.float64]:
    """Features of each environment, (environments, features). Without touch, the tactile images are zero."""
    tactile = observation["tactile"].astype(float) * touch
    images = tactile[:, None] if tactile.ndim == 3 else np.concatenate([-tactile[..., 2], tactile[..., 1]], axis=1)
    weights, total = np.clip(images, 0, None), images.sum(axis=(2, 3))
    up, along = np.meshgrid(np.linspace(1, -1, images.shape[2]), np.linspace(-1, 1, images.shape[3]), indexing="ij")
    moments = [(weights * part).sum(axis=(2, 3)) / np.maximum(weights.sum(axis=(2, 3)), 1e-3) for part in (up, along, up * along)]
    return np.concatenate([np.ones((len(total), 1)), total, *moments, observation.get("hand", total[:, :0]) * 20], axis=1)


def play(envs: list[Any], policies: NDArray[np.float64], touch: bool, seeds: list[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return and success of each policy in the episode of its seed."""
    seen, earned, success = {at: env.reset(seed=seeds[at])[0] for at, env in enumerate(envs)}, np.zeros(TRIES), np.zeros(TRIES, bool)
    while alive := list(seen):
        stacked = {key: np.stack([seen[at][key] for at in alive]) for key in seen[alive[0]]}
        actions = np.tanh(np.einsum("nij,nj->ni", policies[alive], features(stacked, touch))).astype(np.float32)
        for at, action in zip(alive, actions):
            seen[at], reward, terminated, truncated, info = envs[at].step(action)
            earned[at], success[at] = earned[at] + reward, info["success"]
            seen = seen if not (terminated or truncated) else {other: seen[other] for other in seen if other != at}
    return earned, success


def train(envs: list[Any], touch: bool, seed: int, rounds: int) -> NDArray[np.float64]:
    """The weights of a policy, (actions, features). Each round plays two new episodes; the better a policy, the more the next is like it."""
    rng, count = np.random.default_rng(seed), features({key: value[None] for key, value in envs[0].reset(seed=0)[0].items()}, touch).shape[1]
    mean, spread = np.zeros((*envs[0].action_space.shape, count)), np.array(0.7)
    for first in range(1000 * seed, 1000 * seed + 2 * rounds, 2):
        policies = mean + spread * rng.normal(size=((1 if first % 1000 else 3), TRIES, *mean.shape))
        earned = np.concatenate([sum(play(envs, batch, touch, [at] * TRIES)[0] for at in (first, first + 1)) for batch in policies])
        weights, best = np.exp((np.sort(earned)[-BEST:] - earned.max()) / TEMPERATURE), policies.reshape(-1, *mean.shape)[np.argsort(earned)[-BEST:]]
        mean = np.average(best, axis=0, weights=weights)
        spread = np.sqrt(np.average((best - mean) ** 2, axis=0, weights=weights)) + 0.2 * 0.8 ** (first % 1000 / 2)
    return mean


if __name__ == "__main__":
    name, rounds = (*sys.argv[1:], *("dermis/EdgeFollow-v0", "4")[len(sys.argv) - 1 :])
    envs = [gymnasium.make(name) for _ in range(TRIES)]
    trained = {touch: [train(envs, touch, 1, int(rounds))] * TRIES for touch in (True, False)}
    rates = [play(envs, np.array(same), touch, list(range(10**6, 10**6 + TRIES)))[1].mean() for touch, same in trained.items()]
    print(f"{name}: success {rates[0]:.2f} with touch, {rates[1]:.2f} with touch zeroed")
    assert rates[0] > rates[1] + 0.3, "touch does not help"
