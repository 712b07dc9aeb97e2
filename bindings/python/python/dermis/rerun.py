"""Logs worlds, readings and recordings to the Rerun viewer (``pip install rerun-sdk``).

>>> import dermis, dermis.rerun, rerun
>>> rerun.init("touch")
>>> rerun.save("touch.rrd")                         # or rerun.spawn(), which opens the viewer
>>> world = dermis.World.load("scene.toml")
>>> for _ in range(3):
...     world.step(10)
...     dermis.rerun.log(world)

Timelines: ``time`` (s) and ``step``. Meshes and the layout (``blueprint``) are logged once per recording and path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import dermis
from dermis import _heat, _optional
from dermis._names import plain_name

# Recordings and paths whose meshes have been logged.
_logged_meshes: set[tuple[Any, str]] = set()
# Length of force arrows (m/N).
_METRES_PER_NEWTON = 0.005


def _sdk() -> Any:
    _optional.require("dermis.rerun", "rerun")
    import rerun

    return rerun


def log(
    what: dermis.World | dermis.Reading | dermis.Recording,
    path: str = "dermis",
    *,
    recording: Any = None,
    time: float | None = None,
    max_force: float | None = None,
) -> None:
    """Logs the current state of a world, one reading, or all rows of a recording.

    path: parent entity. recording: a ``rerun.RecordingStream``; default: the active one.
    time: time of a reading (s). max_force: force (N) of the brightest colour of heat maps; default: the largest force of each.
    """
    if isinstance(what, dermis.World):
        _log_world(what, path, recording, what.time if time is None else time, max_force)
    elif isinstance(what, dermis.Reading):
        if time is not None:
            _sdk().set_time("time", duration=time, recording=recording)
        _log_reading(what, path, recording, max_force)
    elif isinstance(what, dermis.Recording):
        _log_recording(what, path, recording)
    else:
        raise TypeError(f"`what` must be a dermis.World, Reading or Recording, got {type(what).__name__}")


def blueprint(world: dermis.World, path: str = "dermis") -> Any:
    """A layout for a world: the scene, and a column for each sensor with its tactile image, camera image and force.

    ``log`` sends it as the default. Without it the viewer draws the images of all sensors on top of each other.
    Returns a ``rerun.blueprint.Blueprint``.
    """
    _optional.require("dermis.rerun", "rerun.blueprint")
    import rerun.blueprint as layout

    def column(sensor: str) -> Any:
        entity = f"{path}/readings/{plain_name(sensor)}"
        views = [layout.Spatial2DView(origin=f"{entity}/tactile", name=sensor)]
        if world.sensor(sensor).image_shape:
            views.append(layout.Spatial2DView(origin=f"{entity}/camera", name=f"{sensor}, camera"))
        return layout.Vertical(*views, layout.TimeSeriesView(origin=f"{entity}/force", name=f"{sensor}, force (N)"))

    scene = layout.Spatial3DView(origin=path, contents=[f"{path}/bodies/**", f"{path}/sensors/**"], name="scene")
    return layout.Blueprint(layout.Horizontal(scene, *(column(sensor) for sensor in world.sensors)), collapse_panels=True)


def _log_world(world: dermis.World, path: str, recording: Any, time: float, max_force: float | None) -> None:
    rr = _sdk()
    rr.set_time("time", duration=time, recording=recording)
    rr.set_time("step", sequence=round(time / world.time_step), recording=recording)
    key = (rr.get_recording_id(recording), path)
    if key not in _logged_meshes:
        _logged_meshes.add(key)
        _log_meshes(world, path, recording)
        rr.send_blueprint(blueprint(world, path), make_active=False, recording=recording)
    for body in world.bodies:
        _log_pose(f"{path}/bodies/{plain_name(body)}", world.pose(body), recording)
    for sensor in world.sensors:
        reading = world.reading(sensor)
        name = plain_name(sensor)
        _log_pose(f"{path}/sensors/{name}", world.sensor_pose(sensor), recording)
        arrow = rr.Arrows3D(origins=[[0, 0, 0]], vectors=[reading.force * _METRES_PER_NEWTON], colors=[[214, 64, 54]])
        rr.log(f"{path}/sensors/{name}/force", arrow, recording=recording)
        _log_reading(reading, f"{path}/readings/{name}", recording, max_force)


def _log_meshes(world: dermis.World, path: str, recording: Any) -> None:
    rr = _sdk()
    meshes = [(f"{path}/bodies/{plain_name(body)}", world.mesh(body), (92, 143, 204)) for body in world.bodies]
    meshes += [
        (f"{path}/sensors/{plain_name(sensor)}", world.sensor(sensor).mesh, (64, 69, 79)) for sensor in world.sensors
    ]
    for entity, mesh, colour in meshes:
        if mesh is None:
            continue
        corners, triangles = mesh
        colours = np.tile(np.array(colour, np.uint8), (len(corners), 1))
        shape = rr.Mesh3D(vertex_positions=corners, triangle_indices=triangles, vertex_colors=colours)
        rr.log(f"{entity}/mesh", shape, static=True, recording=recording)


def _log_pose(path: str, pose: NDArray[np.float64], recording: Any) -> None:
    rr = _sdk()
    rr.log(path, rr.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3]), recording=recording)


def _log_reading(reading: dermis.Reading, path: str, recording: Any, max_force: float | None) -> None:
    rr = _sdk()
    rr.log(f"{path}/force", rr.Scalars(reading.force), recording=recording)
    rr.log(f"{path}/torque", rr.Scalars(reading.wrench[3:]), recording=recording)
    rr.log(f"{path}/sum", rr.Scalars([reading.sum]), recording=recording)
    heat = _heat.image(reading.taxels, reading.centers, max_force=max_force)
    rr.log(f"{path}/tactile", rr.Image(heat), recording=recording)
    rr.log(f"{path}/taxels", rr.Tensor(reading.taxels), recording=recording)
    if hasattr(reading, "image"):
        rr.log(f"{path}/camera", rr.Image(reading.image), recording=recording)


def _log_recording(what: dermis.Recording, path: str, recording: Any) -> None:
    rr = _sdk()
    times = rr.TimeColumn("time", duration=what.times)
    for sensor in what.sensors:
        name = plain_name(sensor)
        for key, values in (("force", what.force(sensor)), ("taxels", what.taxels(sensor))):
            columns = rr.Scalars.columns(scalars=values.ravel()).partition([values.shape[1]] * len(values))
            rr.send_columns(f"{path}/readings/{name}/{key}", indexes=[times], columns=columns, recording=recording)
    for body in what.bodies:
        columns = rr.Transform3D.columns(translation=what.positions(body))
        rr.send_columns(f"{path}/bodies/{plain_name(body)}", indexes=[times], columns=columns, recording=recording)
