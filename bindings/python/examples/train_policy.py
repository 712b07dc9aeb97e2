"""Trains a policy on tactile observations with the cross-entropy method.

    python train_policy.py [dermis/EdgeFollow-v0 | dermis/GraspLift-v0] [rounds]

The policy is linear in a few features: load, center and orientation of the contact on each array.
"""

import sys
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import dermis.gym  # registers the environments

NAME = sys.argv[1] if len(sys.argv) > 1 else "dermis/EdgeFollow-v0"
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 4
TRIES, BEST, STEPS = 16, 4, 150


def features(observation: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Load, center and orientation of the contact on each array, and the hand position: (environments, features)."""
    tactile = observation["tactile"].astype(float)
    images = tactile[:, None] if tactile.ndim == 3 else np.concatenate([-tactile[..., 2], tactile[..., 1]], axis=1)
    weights = np.clip(images, 0, None)
    total = images.sum(axis=(2, 3))
    scale = np.maximum(weights.sum(axis=(2, 3)), 1e-3)
    up, along = np.meshgrid(np.linspace(1, -1, images.shape[2]), np.linspace(-1, 1, images.shape[3]), indexing="ij")
    moments = [(weights * part).sum(axis=(2, 3)) / scale for part in (up, along, up * along)]
    hand = observation.get("hand", np.zeros((len(total), 0))) * 20
    return np.concatenate([np.ones((len(total), 1)), total, *moments, hand], axis=1)


def returns(envs: Any, policies: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return of each policy in one episode, with the same seed for all."""
    observation, _ = envs.reset(seed=[seed] * len(policies))
    earned, alive = np.zeros(len(policies)), np.ones(len(policies), bool)
    while alive.any():
        action = np.tanh(np.einsum("nij,nj->ni", policies, features(observation)))
        observation, reward, terminated, truncated, _ = envs.step(action.astype(np.float32))
        earned += np.where(alive, reward, 0)
        alive &= ~(terminated | truncated)
    return earned


envs: Any = gymnasium.make_vec(NAME, num_envs=TRIES, vectorization_mode="sync", max_episode_steps=STEPS)
count = features(envs.reset(seed=0)[0]).shape[1]
rng = np.random.default_rng(0)
mean = np.zeros((*envs.single_action_space.shape, count))
spread, best, history = np.array(0.7), np.empty((0, *mean.shape)), list[float]()
for round_ in range(ROUNDS):
    policies = mean + spread * rng.normal(size=(TRIES, *mean.shape))
    policies[: len(best)] = best
    earned = returns(envs, policies, seed=1)
    best = policies[np.argsort(earned)[-BEST:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.2 * 0.8**round_
    history.append(float(np.sort(earned)[-BEST:].mean()))
    print(f"round {round_}: the best {BEST} of {TRIES} earn {history[-1]:.2f}", flush=True)
assert history[-1] > history[0] + 0.5, "training does not help"
