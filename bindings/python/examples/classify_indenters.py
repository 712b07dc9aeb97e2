"""Trains a network to classify twenty-one indenters by their images, and tests it on new poses and other skins."""

import os
import pathlib
import sys

import torch
from torch import nn

from dermis import dataset
from dermis.torch import TouchDataset

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DERMIS_OUT", "out/indenters"))
SPEC = """
name = "indenters-{name}"
format = "lerobot"
seed = {seed}
count = {count}
sensor = [{{ preset = "gelsight", resolution = 0.125, {skin} }}]
object = [{{ indenters = ["all"] }}]
pose.x = {{ uniform = ["-1 mm", "1 mm"] }}
pose.y = {{ uniform = ["-1 mm", "1 mm"] }}
pose.yaw = {{ uniform = ["-20 deg", "20 deg"] }}
pose.depth = {{ uniform = ["0.5 mm", "1 mm"] }}
scenario.kind = "press"
"""


def touches(name: str, seed: int, count: int, skin: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Images minus their mean, and labels, of a data set, which is made if it does not exist."""
    OUT.mkdir(parents=True, exist_ok=True)
    spec = OUT / f"{name}.toml"
    spec.write_text(SPEC.format(name=name, seed=seed, count=count, skin=skin))
    dataset.make(spec, OUT / name)
    rows = TouchDataset(OUT / name, columns=["observation.images.tactile", "label"])
    images = torch.stack([row["observation.images.tactile"] for row in rows])
    return images - images.mean(dim=0), torch.stack([row["label"] for row in rows])


train, truth = touches("train", 1, 21 * 120, "skin.mu = 0.0")
torch.manual_seed(0)
parts: list[nn.Module] = []
for a, b, stride in [(3, 16, 2), (16, 32, 1), (32, 64, 1)]:
    parts += [nn.Conv2d(a, b, 3, stride, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
network = nn.Sequential(*parts, nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 3 * 5, 21))
optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=1e-2)
for batch in [batch for _ in range(15) for batch in torch.randperm(len(train)).split(64)]:
    loss = nn.functional.cross_entropy(network(train[batch]), truth[batch], label_smoothing=0.1)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
network.eval()
scores = {}
skins = {"layer": "skin.mu = 0.0", "gel": 'skin_kind = "gel", skin.cell = "0.8 mm"', "imprint": 'skin_kind = "imprint"'}
for name, skin in skins.items():
    images, labels = touches(name, 2, 42 if name == "gel" else 210, skin)
    with torch.no_grad():
        scores[name] = (network(images).argmax(dim=1) == labels).float().mean().item()
    print(f"new poses on the skin {name}: {100 * scores[name]:.1f} % of {len(labels)} correct (chance: 4.8 %)")
assert scores["layer"] > 0.9 and scores["gel"] > 0.3
