"""Trains a policy to follow a cable by touch, all on one GPU (proximal policy optimisation), and scores it on cables it has not seen.

    python train_on_gpu.py [environments] [updates]

Without a GPU it runs on the CPU, with fewer environments. The curve of training is written to curve.csv."""

import math
import os
import pathlib
import sys

import dermis.gym
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
COUNT, UPDATES = [int(number) for number in sys.argv[1:3]] or ((4096, 150) if DEVICE == "cuda" else (256, 30))
STEPS, DISCOUNT, TRACE, CLIP = 24, 0.98, 0.95, 0.2


def train(touch: bool) -> tuple[nn.Module, list[str]]:
    """A network from tactile images (zeroed without touch) to three actions and the value, and its curve."""
    torch.manual_seed(1)
    env, noise = dermis.gym.EdgeFollowVector(COUNT, device=DEVICE), nn.Parameter(torch.full((3,), -0.5, device=DEVICE))
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 4)).to(DEVICE)
    optimizer, curve = torch.optim.Adam([*net.parameters(), noise], lr=1e-3), []
    seen = env.reset(seed=1)[0]["tactile"] * 10 * touch
    for update in range(UPDATES):
        rows, ended = [], torch.zeros(2, device=DEVICE)
        for _ in range(STEPS):
            with torch.no_grad():
                out = net(seen)
                normal = torch.distributions.Normal(out[:, :3], noise.exp())
                action = normal.sample()
                observation, reward, terminated, truncated, info = env.step(action)
            over = (terminated | truncated).float()
            rows.append((seen, action, normal.log_prob(action).sum(1), reward, over, out[:, 3]))
            seen, ended = observation["tactile"] * 10 * touch, ended + torch.stack([info["final_info"]["success"].sum(), over.sum()])
        inputs, actions, before, rewards, overs, values = (torch.stack(column) for column in zip(*rows))
        following, gain, gains = net(seen)[:, 3].detach(), torch.zeros(COUNT, device=DEVICE), torch.zeros_like(rewards)
        for t in reversed(range(STEPS)):
            gain = rewards[t] + (1 - overs[t]) * DISCOUNT * (following + TRACE * gain) - values[t]
            gains[t], following = gain, values[t]
        targets, scaled = (gains + values).flatten(), ((gains - gains.mean()) / gains.std()).flatten()
        inputs, actions, before = inputs.flatten(0, 1), actions.flatten(0, 1), before.flatten()
        for part in (part for _ in range(4) for part in torch.randperm(len(before), device=DEVICE).chunk(4)):
            out = net(inputs[part])
            ratio = (torch.distributions.Normal(out[:, :3], noise.exp()).log_prob(actions[part]).sum(1) - before[part]).exp()
            gained = torch.min(ratio * scaled[part], ratio.clip(1 - CLIP, 1 + CLIP) * scaled[part]).mean()
            optimizer.zero_grad()
            ((out[:, 3] - targets[part]).square().mean() - gained).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        done, episodes = ended.tolist()
        curve.append(f"{int(touch)},{(update + 1) * STEPS * COUNT},{rewards.mean().item():.5f},{done / episodes if episodes else math.nan:.4f}")
    env.close()
    return net, curve


def score(net: nn.Module, touch: bool) -> float:
    """Success of the first episodes on other cables, without noise in the actions."""
    env, alive, success = dermis.gym.EdgeFollowVector(COUNT, device=DEVICE), torch.ones(COUNT, device=DEVICE), torch.zeros(COUNT, device=DEVICE)
    seen = env.reset(seed=1000)[0]["tactile"]
    for _ in range(400):
        with torch.no_grad():
            observation, _, terminated, truncated, info = env.step(net(seen * 10 * touch)[:, :3])
        seen, success, alive = observation["tactile"], success + alive * info["final_info"]["success"], alive * ~(terminated | truncated)
    return float(success.mean())


lines: list[str] = ["touch,steps,reward,success"]
scores: list[float] = []
for touch in (True, False):
    net, curve = train(touch)
    lines, scores = lines + curve, [*scores, score(net, touch)]
    print(f"{'touch' if touch else 'touch zeroed'}: success {scores[-1]:.3f} on {COUNT} cables that were not seen in training")
pathlib.Path(os.environ.get("DERMIS_OUT", "."), "curve.csv").write_text("\n".join(lines) + "\n")
assert scores[0] > scores[1]
