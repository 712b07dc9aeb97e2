"""The compiled part of dermis. Import from ``dermis``.

Shapes are written (n, 3). Lengths are in m, forces in N, angles in rad, times in s. The sensor frame has its origin at the center of the
sensing surface and +z out of the skin; forces act on the sensor.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

_Path = str | os.PathLike[str]
_Targets = Object | Sequence[tuple[Object, ArrayLike] | tuple[Object, ArrayLike, ArrayLike | None]]
_F32 = NDArray[np.float32]
_F64 = NDArray[np.float64]
_U32 = NDArray[np.uint32]

__version__: str

class Error(ValueError):
    """An input that dermis refuses. The message names the key, the rule and the value."""

def hydroelastic_modulus(
    *,
    young: float,
    poisson: float,
    depth: float | None = None,
    radius: float | None = None,
    indentation: float | None = None,
) -> float:
    """Hydroelastic modulus (Pa) of a body with Young's modulus young (Pa) and Poisson's ratio poisson."""

def presets() -> list[str]:
    """Names of the built-in sensors."""

class _Copyable:
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Object(_Copyable):
    """A rigid object that can touch sensors, in its own frame. Immutable."""

    def __new__(cls, shape: str, *, unit: str | None = None, mu: float | None = None) -> Object:
        """shape: as on the command line, such as "sphere:radius=10mm", "indenter:moon" or the path of a mesh file."""

    @staticmethod
    def sphere(*, radius: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A sphere at the origin, exact on every skin. radius, edge (of the drawn mesh): m. mu: coefficient of friction."""

    @staticmethod
    def ellipsoid(*, semi_axes: ArrayLike, edge: float | None = None, mu: float | None = None) -> Object:
        """An ellipsoid at the origin. semi_axes: half extents (m), (3,)."""

    @staticmethod
    def box(*, size: ArrayLike, mu: float | None = None) -> Object:
        """An axis-aligned box at the origin. size: full extents (m), (3,)."""

    @staticmethod
    def cylinder(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A cylinder along z at the origin. radius, length: m."""

    @staticmethod
    def capsule(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A capsule along z at the origin. radius, length of the cylindrical part: m."""

    @staticmethod
    def plane(*, half_size: float = 10.0, thickness: float = 1.0, mu: float | None = None) -> Object:
        """A solid below z = 0 of its frame. half_size, thickness: m."""

    @staticmethod
    def mesh(*, vertices: ArrayLike, triangles: ArrayLike, name: str = "mesh", mu: float | None = None) -> Object:
        """A triangle mesh. vertices: m, (n, 3). triangles: vertex indices, (m, 3), counter-clockwise seen from outside."""

    @staticmethod
    def height_field(heights: ArrayLike, *, size: ArrayLike, base: float = 0.01, mu: float | None = None) -> Object:
        """A solid below a grid of heights (m), (rows, cols), row 0 at +y. size: extent along x and y (m), (2,)."""

    @staticmethod
    def indenter(name: str, *, mu: float | None = None) -> Object:
        """A built-in indenter for optical gels, its tip at the origin."""

    @staticmethod
    def load(path: _Path, *, unit: str | None = None, repair: bool = False, mu: float | None = None) -> Object:
        """A mesh file: STL, OBJ, PLY or glTF. unit: "m", "cm", "mm" or "in". repair: drops triangles without area."""

    name: Final[str]
    """Name used in messages."""
    mu: Final[float | None]
    """Coefficient of friction; None: that of the skin."""
    vertices: Final[_F64]
    """Vertices of its mesh (m), (n, 3)."""
    triangles: Final[_U32]
    """Vertex indices of its triangles, (m, 3)."""
    bounds: Final[_F64]
    """Lower and upper corner of its bounding box (m), (2, 3)."""
    closed: Final[bool]
    """True if the surface bounds a solid."""

@final
class Touch(_Copyable):
    """The contact between a skin and objects: loads on both, contact facets and the deformed surface, in the sensor frame."""

    on_sensor: Final[_F64]
    """Force (N) and torque (N m) on the sensor about its origin, (6,)."""
    on_objects: Final[_F64]
    """Force (N) and torque (N m) on each object about the sensor's origin, (objects, 6)."""
    points: Final[_F64]
    """Center of each facet (m), (facets, 3)."""
    forces: Final[_F64]
    """Force on the sensor from each facet (N), (facets, 3)."""
    normals: Final[_F64]
    """Contact normal of each facet, out of the sensor, (facets, 3)."""
    areas: Final[_F64]
    """Area of each facet (m²), (facets,)."""
    depths: Final[_F64]
    """Penetration of each facet into the skin (m), (facets,)."""
    objects: Final[_U32]
    """Index of the object of each facet, (facets,)."""
    area: Final[float]
    """Contact area (m²)."""
    max_depth: Final[float]
    """Largest penetration (m)."""
    saturated: Final[int]
    """Number of facets beyond the range of the skin; their load is a lower bound."""
    warnings: Final[list[str]]
    """Reasons why the solution may be inaccurate."""
    surface: Final[_F64 | None]
    """Displacement of the skin's surface (m), (rows, cols, 3); None if the skin does not compute it."""
    base: Final[_F64 | None]
    """Stress vector on the base under the skin (Pa), (rows, cols, 3); None if the skin does not compute it."""
    cell: Final[float | None]
    """Cell size of surface and base (m)."""

@final
class Features:
    """Image moments of the taxel forces, in the plane of the sensor."""

    total: Final[float]
    """Sum of the forces (N)."""
    center: Final[_F64]
    """Center of pressure (m), (2,)."""
    covariance: Final[_F64]
    """Covariance about the center (m²), (2, 2)."""
    direction: Final[float]
    """Angle of the longer axis from +x towards +y (rad), in (-pi/2, pi/2]."""
    eccentricity: Final[float]
    """0 for a round contact, 1 for a line."""
    spreads: Final[_F64]
    """Half axes of the ellipse with the same second moments, the longer first (m), (2,)."""
    area: Final[float]
    """Area of the taxels above the threshold (m²)."""
    kind: Final[str]
    """"point", or "edge": at least twice as long as wide."""

class _Arrays:
    """Arrays of one reading. Those of a batch have one more axis in front, the presses."""

    taxels: Final[_F64]
    """Normal force on each taxel (N), positive in compression, before the response, (rows, cols) or (taxels,)."""
    reported: Final[_F64]
    """Force that the sensor reports for each taxel (N), after its response; shape of taxels."""
    raw: Final[_U32]
    """Raw counts of each taxel, after its response; shape of taxels."""
    forces: Final[_F64]
    """Force on each taxel (N), (rows, cols, 3) or (taxels, 3)."""
    force: Final[_F64]
    """Force on the sensor (N), (3,)."""
    wrench: Final[_F64]
    """Force (N) and torque (N m) on the sensor about its origin, (6,)."""
    outside: Final[_F64]
    """Force on the skin outside all taxels (N), (3,)."""
    image: Final[NDArray[np.uint8]]
    """Camera image, RGB, (height, width, 3). Raises dermis.Error for a sensor without a camera."""

@final
class Reading(_Arrays, _Copyable):
    """One reading of a sensor. Images are rendered on first access."""

    pressures: Final[_F64 | None]
    """Pressure of each taxel from sampled rays (Pa), shape of taxels; None unless the sensor samples rays."""
    sum: Final[float]
    """Sum of taxels (N)."""
    active: Final[int]
    """Number of taxels under load."""
    saturated: Final[int]
    """Number of contacts beyond the range of the skin."""
    touch: Final[Touch]
    """The contact that was read."""
    sensor: Final[str]
    """Name of the sensor."""
    pose: Final[_F64 | None]
    """Pose of the object after a press, sensor_from_object, (4, 4); None after a step."""
    travel: Final[float | None]
    """Travel of a press past first contact (m); None after a step."""
    centers: Final[_F64]
    """Center of each taxel (m), (rows, cols, 3) or (taxels, 3)."""
    depth: Final[_F32]
    """Indentation of the gel at each pixel (m), positive inwards, (height, width)."""
    normals: Final[_F32]
    """Unit normals of the visible surface: right, up, towards the camera, (height, width, 3)."""
    markers: Final[_F64]
    """Column and row of each marker before and after the contact (pixels), (markers, 4)."""
    flow: Final[_F32]
    """Optical flow from the untouched image: right and down (pixels), (height, width, 2)."""
    def features(self, *, threshold: float = 0.0) -> Features | None:
        """Moments of the taxel forces above threshold (N); None if no taxel is."""

    def show(self, *, path: _Path | None = None, block: bool = False) -> Any:
        """Plots the reading with matplotlib and returns the figure. path: also saves it. block: waits for the window to close."""

class _Batch(_Arrays):
    saturated: Final[_U32]
    """Number of contacts beyond the range of the skin, (n,)."""
    warnings: Final[list[str]]
    """The first warning of each kind of all readings."""
    travel: Final[_F64]
    """Travel of each press past first contact (m), (n,); NaN for presses at given poses."""
    def __len__(self) -> int: ...

@final
class Batch(_Batch):
    """The readings of many presses of one sensor: a sequence of readings, and their arrays."""

    depth: Final[_F32]
    """Indentation of the gel at each pixel (m), (n, height, width)."""
    def __getitem__(self, index: int, /) -> Reading: ...
    def __iter__(self) -> Iterator[Reading]: ...

class _OnGpu(Protocol):
    """A GPU tensor of another library, such as PyTorch, CuPy or JAX."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

@final
class DeviceArray:
    """An array in GPU memory: ``torch.from_dlpack(x)`` shares it without a copy, ``x.numpy()`` copies it to the host."""

    shape: Final[tuple[int, ...]]
    """Extent along each axis."""
    dtype: Final[str]
    """Element type, as numpy names it."""
    __cuda_array_interface__: Final[dict[str, Any]]
    def numpy(self) -> NDArray[Any]:
        """A copy in host memory."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class DeviceBatch(_Batch):
    """The readings of many presses of one sensor, in GPU memory.

    The plain arrays are copied to the host on access; those ending in ``_on_device`` share GPU memory, for ``torch.from_dlpack``.
    """

    device: Final[str]
    """The CUDA device."""
    taxels_on_device: Final[DeviceArray]
    forces_on_device: Final[DeviceArray]
    force_on_device: Final[DeviceArray]
    wrench_on_device: Final[DeviceArray]
    outside_on_device: Final[DeviceArray]
    saturated_on_device: Final[DeviceArray]
    image_on_device: Final[DeviceArray]

@final
class Environments:
    """Many copies of a sensor, each with one object, stepped together on a GPU. Their states stay in GPU memory."""

    def __len__(self) -> int: ...
    def step(self, poses: ArrayLike | _OnGpu, twists: ArrayLike | _OnGpu | None = None, *, dt: float) -> DeviceBatch:
        """Advances every environment by dt (s), with the object at poses and moving with twists, (n, 6), in the sensor frame."""

    def reset(self, which: Sequence[bool] | None = None) -> None:
        """Resets the environments where which is True; all without it."""

@final
class State(_Copyable):
    """The state of a sensor: bristles, warm starts, particles, and the state of the response."""

@final
class Sensor(_Copyable):
    """A tactile sensor: a soft skin over a transducer, with its state."""

    @staticmethod
    def preset(name: str, *, skin: str | None = None, parameters: Mapping[str, Any] | None = None) -> Sensor:
        """A built-in sensor. skin: another skin model. parameters: values of the description to change."""

    @staticmethod
    def load(path: _Path, *, skin: str | None = None, parameters: Mapping[str, Any] | None = None) -> Sensor:
        """A sensor from its description, a TOML file."""

    @staticmethod
    def parse(
        text: str, *, folder: _Path | None = None, skin: str | None = None, parameters: Mapping[str, Any] | None = None
    ) -> Sensor:
        """A sensor from its description, TOML text."""

    def press(
        self,
        obj: Object,
        *,
        depth: float | None = None,
        force: float | None = None,
        at: ArrayLike | None = None,
        tilt: ArrayLike | None = None,
        yaw: float = 0.0,
    ) -> Reading:
        """Presses an object along -z into the untouched sensor, quasi-statically, to a depth (m) or a force (N)."""

    @overload
    def press_batch(
        self,
        obj: Object,
        poses: ArrayLike | None = None,
        *,
        depth: ArrayLike | None = None,
        force: ArrayLike | None = None,
        at: ArrayLike | None = None,
        tilt: ArrayLike | None = None,
        yaw: ArrayLike | None = None,
        device: Literal["cpu"] = "cpu",
    ) -> Batch:
        """Many presses in parallel, on all CPU cores or on a GPU, each of the untouched sensor."""

    @overload
    def press_batch(
        self,
        obj: Object,
        poses: ArrayLike | _OnGpu | None = None,
        *,
        depth: ArrayLike | None = None,
        at: ArrayLike | None = None,
        tilt: ArrayLike | None = None,
        yaw: ArrayLike | None = None,
        device: Literal["cuda"],
    ) -> DeviceBatch: ...
    @overload
    def press_batch(
        self,
        obj: Object,
        poses: ArrayLike | _OnGpu | None = None,
        *,
        depth: ArrayLike | None = None,
        force: ArrayLike | None = None,
        at: ArrayLike | None = None,
        tilt: ArrayLike | None = None,
        yaw: ArrayLike | None = None,
        device: str,
    ) -> Batch | DeviceBatch: ...
    def environments(self, obj: Object, count: int) -> Environments:
        """Copies of this sensor, untouched, that step together on a GPU."""

    def step(
        self,
        objects: _Targets,
        *,
        dt: float,
        pose: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
        sensor_twist: ArrayLike | None = None,
    ) -> Reading:
        """Advances the sensor by dt (s) while objects move, and reads it, including its response."""

    def settle(
        self, objects: _Targets, *, pose: ArrayLike | None = None, sensor_pose: ArrayLike | None = None
    ) -> Reading:
        """Holds objects in place until the skin is at rest, and reads it without its response."""

    def read_contacts(
        self,
        points: ArrayLike,
        forces: ArrayLike,
        *,
        normals: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        depths: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
    ) -> Reading:
        """Reads contact points of another simulator: points (m) and forces on the sensor (N), (n, 3) each."""

    def reset(self) -> None:
        """Resets the sensor: nothing has touched it."""

    @property
    def state(self) -> State:
        """The state of the sensor, to save and restore."""

    @state.setter
    def state(self, state: State) -> None: ...
    def stable_step(self, *, mass: float, size: ArrayLike) -> float:
        """The largest stable time step (s) of an explicit simulator for a free body of mass (kg) and size (m), (3,)."""

    name: Final[str]
    """Name of the sensor."""
    description: Final[str]
    """What the sensor is and where its parameters come from."""
    toml: Final[str]
    """Description of the sensor, TOML."""
    shape: Final[tuple[int, ...]]
    """Shape of reading.taxels: (rows, cols) or (taxels,)."""
    centers: Final[_F64]
    """Center of each taxel (m), (taxels, 3)."""
    normals: Final[_F64]
    """Normal of each taxel, (taxels, 3)."""
    areas: Final[_F64]
    """Area of each taxel (m²), (taxels,)."""
    max_depth: Final[float]
    """Largest penetration that the skin can represent (m)."""
    rate: Final[float | None]
    """Sampling rate (Hz); None if the description has none."""
    image_shape: Final[tuple[int, int, int] | None]
    """Shape of reading.image, (height, width, 3); None without a camera."""
    mesh: Final[tuple[_F64, _U32]]
    """Vertices (m), (n, 3), and triangles, (m, 3), of the undeformed skin."""

@final
class Attachment:
    """A sensor in a MuJoCo simulation, made by ``dermis.mujoco.attach``."""

    def __new__(
        cls,
        model: Any,
        data: Any,
        sensor: Sensor,
        *,
        site: str | int | None = None,
        body: str | int | None = None,
        geom: str | int | None = None,
        pose: ArrayLike | None = None,
        objects: str | int | Sequence[str | int] | None = None,
        mode: str = "sense",
        coupling: str = "implicit",
    ) -> Attachment: ...
    model: Final[Any]
    """The mujoco.MjModel."""
    data: Final[Any]
    """The mujoco.MjData."""
    mode: Final[str]
    """"sense", "couple" or "contacts"."""
    sensor: Final[Sensor]
    """A copy of the sensor with its current state."""
    objects: Final[list[str]]
    """The geoms that the sensor may touch, in the order of ``reading.touch.on_objects``."""
    pose: Final[_F64]
    """Pose of the sensor, world_from_sensor, (4, 4)."""
    def read(self) -> Reading:
        """Reads the sensor in the state that mj_step or mj_forward has left."""

    def reset(self) -> None:
        """Resets the sensor: nothing has touched it."""

    def detach(self) -> None:
        """Ends the attachment. In mode "couple", MuJoCo computes the contacts again."""

@final
class Recording:
    """Readings and body positions of a run, one row per time."""

    times: Final[_F64]
    """Time of each row (s), (rows,)."""
    sensors: Final[list[str]]
    """Names of the sensors."""
    bodies: Final[list[str]]
    """Names of the bodies."""
    phases: Final[list[tuple[float, str]]]
    """Start (s) and name of each phase of the task."""
    warnings: Final[list[str]]
    """Warnings of skins, world and task."""
    def taxels(self, sensor: str) -> _F64:
        """Normal force on each taxel (N), (rows, taxels)."""

    def force(self, sensor: str) -> _F64:
        """Force on a sensor, in its frame (N), (rows, 3)."""

    def positions(self, body: str) -> _F64:
        """Position of a body (m), (rows, 3)."""

    def __len__(self) -> int: ...

@final
class World:
    """Rigid bodies with tactile sensors. Poses and twists are in the world frame, z up."""

    def __new__(
        cls,
        *,
        gravity: ArrayLike | None = None,
        time_step: float = 1e-3,
        ground: float | None = None,
        ground_friction: float = 0.5,
        coupling: Literal["implicit", "explicit"] | None = None,
    ) -> World:
        """gravity: m/s², (3,). time_step: s. ground: height of the ground (m); none without it. coupling: the instant of the contact
        forces, "explicit" (start of the step) or "implicit" (end of the step; any time step is stable); default: explicit if stable."""

    @staticmethod
    def load(path: _Path) -> World:
        """A world from a scene file (TOML)."""

    @staticmethod
    def parse(text: str, *, folder: _Path | None = None) -> World:
        """A world from the text of a scene file."""

    def add_body(
        self,
        name: str,
        obj: Object | None = None,
        *,
        motion: str = "fixed",
        mass: float | None = None,
        pose: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        solid: bool = False,
    ) -> None:
        """Adds a body. motion: "fixed", "driven" or "free". mass (kg): of a free body."""

    def mount(self, name: str, sensor: Sensor, *, body: str, pose: ArrayLike | None = None) -> None:
        """Mounts a sensor on a body, at a pose in the body frame."""

    def step(self, count: int = 1) -> None:
        """Advances the world by count time steps."""

    def run(
        self,
        *,
        duration: float | None = None,
        record: _Path | None = None,
        format: str | None = None,
        image_every: float = ...,
        overwrite: bool = ...,
    ) -> Recording:
        """Runs to the end of the scene, or for duration (s). record: an .mcap or .parquet file or a folder to write; overwrite replaces a file."""

    time: Final[float]
    """Simulated time (s)."""
    time_step: Final[float]
    """Time step (s)."""
    stable_step: Final[float | None]
    """Largest stable time step (s) with explicit coupling; None without a free body on a sensor."""
    phase: Final[str | None]
    """Current phase of the task."""
    warnings: Final[list[str]]
    """Loads that no sensor reads, and bodies that passed a sensor or left the scene."""
    bodies: Final[list[str]]
    """Names of the bodies."""
    sensors: Final[list[str]]
    """Names of the sensors."""
    def pose(self, body: str) -> _F64:
        """Pose of a body, world_from_body, (4, 4)."""

    def twist(self, body: str) -> _F64:
        """Velocity (m/s) of a body's origin and angular velocity (rad/s), (6,)."""

    def set_twist(self, body: str, twist: ArrayLike) -> None:
        """Sets the twist of a driven or free body."""

    def reading(self, sensor: str) -> Reading:
        """The last reading of a sensor."""

    def sensor(self, name: str) -> Sensor:
        """An untouched copy of a sensor."""

    def mesh(self, body: str) -> tuple[_F64, _U32] | None:
        """Vertices (m), (n, 3), and triangles, (m, 3), of the visible part of a body, in its frame."""

    def sensor_pose(self, sensor: str) -> _F64:
        """Pose of a sensor, world_from_sensor, (4, 4)."""

    def load_on(self, body: str, *, sensor: str) -> _F64:
        """Force (N) and torque (N m) of a sensor on a body in the last step, world frame, about the sensor's origin, (6,)."""

@final
class Bench:
    """Measurements of a taxel array on a test bench."""

    def __new__(
        cls,
        *,
        taxel: ArrayLike,
        press: ArrayLike,
        held: ArrayLike,
        depth: ArrayLike,
        force: ArrayLike,
        raw: ArrayLike,
        creep_time: ArrayLike | None = None,
        creep_force: ArrayLike | None = None,
        creep_raw: ArrayLike | None = None,
        creep_taxel: int = 0,
    ) -> Bench: ...
    taxel: Final[_U32]
    """Pressed taxel of each reading, (n,)."""
    depth: Final[_F64]
    """Depth of each reading (m), (n,)."""
    force: Final[_F64]
    """Force of each reading (N), (n,)."""
    raw: Final[_U32]
    """Raw counts of all taxels in each reading, (n, taxels)."""
    creep: Final[_F64]
    """Time (s), force (N) and raw counts of the creep recording, (m, 3)."""
    def presses_csv(self) -> str:
        """The press readings as CSV."""

    def creep_csv(self) -> str:
        """The creep recording as CSV."""

    def __len__(self) -> int: ...

def characterise_sensor(sensor: Sensor, protocol: str) -> Bench: ...
def fit_sensor(sensor: Sensor, bench: Bench, kernel: int, indenter: float) -> tuple[Sensor, str]: ...
def compare_images(
    truth: ArrayLike, image: ArrayLike, mask: ArrayLike | None, window: str
) -> tuple[float, float, float, float, int]: ...
def experiment_list() -> list[tuple[str, str, bool]]: ...
def run_experiment(name: str, full: bool, data: _Path | None, skin: str | None, out: _Path | None) -> str: ...

class Dataset:
    def __new__(cls, text: str, file: str, folder: _Path | None) -> Dataset: ...
    def about(self) -> str: ...
    def make(self, out: _Path, threads: int | None, progress: Callable[[int, int], object] | None) -> None: ...
    def make_shards(self, out: _Path, shards: list[int]) -> None: ...
    def missing(self, out: _Path) -> list[int]: ...
    def complete(self, out: _Path) -> None: ...

def check_dataset(folder: _Path) -> int: ...
def mujoco_layout() -> list[int]: ...
def mujoco_layouts() -> tuple[list[str], list[str]]: ...
def set_mujoco_layout(numbers: Sequence[int]) -> None: ...
