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


def play(envs: Any, policies: NDArray[np.float64], touch: bool, seeds: list[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return and success of each policy in the episode of its seed."""
    observation, _ = envs.reset(seed=seeds)
    earned, success, alive = np.zeros(len(seeds)), np.zeros(len(seeds), bool), np.ones(len(seeds), bool)
    while alive.any():
        action = np.tanh(np.einsum("nij,nj->ni", policies, features(observation, touch)))
        observation, reward, terminated, truncated, info = envs.step(action.astype(np.float32))
        earned, success = earned + alive * reward, success | (alive & info["success"])
        alive &= ~(terminated | truncated)
    return earned, success


def train(envs: Any, touch: bool, seed: int, rounds: int) -> NDArray[np.float64]:
    """The weights of a policy, (actions, features). Each round plays two new episodes; the better a policy, the more the next is like it."""
    rng, count = np.random.default_rng(seed), features(envs.reset(seed=0)[0], touch).shape[1]
    mean, spread = np.zeros((*envs.single_action_space.shape, count)), np.array(0.7)
    for first in range(1000 * seed, 1000 * seed + 2 * rounds, 2):
        policies = mean + spread * rng.normal(size=((1 if first % 1000 else 3), TRIES, *mean.shape))
        returns = [play(envs, batch, touch, [first] * TRIES)[0] + play(envs, batch, touch, [first + 1] * TRIES)[0] for batch in policies]
        order = np.argsort(earned := np.concatenate(returns))[-BEST:]
        weights, best = np.exp((earned[order] - earned.max()) / TEMPERATURE), policies.reshape(-1, *mean.shape)[order]
        mean = np.average(best, axis=0, weights=weights)
        spread = np.sqrt(np.average((best - mean) ** 2, axis=0, weights=weights)) + 0.2 * 0.8 ** (first % 1000 / 2)
    return mean


if __name__ == "__main__":
    name, rounds = (*sys.argv[1:], *("dermis/EdgeFollow-v0", "4")[len(sys.argv) - 1 :])
    envs: Any = gymnasium.make_vec(name, num_envs=TRIES, vectorization_mode="sync")
    trained = {touch: np.array([train(envs, touch, 1, int(rounds))] * TRIES) for touch in (True, False)}
    rates = [play(envs, policies, touch, list(range(10**6, 10**6 + TRIES)))[1].mean() for touch, policies in trained.items()]
    print(f"{name}: success {rates[0]:.2f} with touch, {rates[1]:.2f} with touch zeroed")
    assert rates[0] > rates[1] + 0.3, "touch does not help"
