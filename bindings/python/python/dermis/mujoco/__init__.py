"""dermis sensors in a MuJoCo simulation, from MuJoCo 3.3 on.

>>> import mujoco
>>> import dermis, dermis.mujoco
>>> model = mujoco.MjModel.from_xml_path("gripper.xml")
>>> data = mujoco.MjData(model)
>>> pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset("uji-foam-14x6"), site="pad", mode="couple")
>>> for _ in range(1000):
...     mujoco.mj_step(model, data)
>>> pad.read().taxels.shape
(14, 6)

The engine plugin does the same from MJCF alone, without Python (``load_plugin``); ``image`` renders what its cameras see.
"""

from dermis import _optional

_optional.require("dermis.mujoco", "mujoco")

from dermis._engine_plugin import load as load_plugin
from dermis._native import Attachment
from dermis.mujoco._attach import attach
from dermis.mujoco._image import image
from dermis.mujoco._urdf import attach_urdf

__all__ = ["Attachment", "attach", "attach_urdf", "image", "load_plugin"]
