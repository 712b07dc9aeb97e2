"""The compiled part of dermis. Import from ``dermis``."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

class Error(ValueError):
    """What dermis refuses, in one sentence that says who, which key, the rule and the value."""

def presets() -> list[str]:
    """Names of the sensors that ship with dermis."""

@final
class Object:
    """A thing that can be touched: a shape in a frame of its own."""

    def __new__(cls, shape: str, *, unit: str | None = None, mu: float | None = None) -> Object: ...
    @staticmethod
    def sphere(*, radius: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A ball about the origin. radius, edge: metres."""

    @staticmethod
    def ellipsoid(*, semi_axes: ArrayLike, edge: float | None = None, mu: float | None = None) -> Object:
        """An ellipsoid about the origin. semi_axes: half its extent (m), shape (3,)."""

    @staticmethod
    def box(*, size: ArrayLike, mu: float | None = None) -> Object:
        """A box about the origin. size: its whole extent (m), shape (3,)."""

    @staticmethod
    def cylinder(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A cylinder along z, about the origin (m)."""

    @staticmethod
    def capsule(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A cylinder along z with round ends, about the origin (m). length: of the straight part."""

    @staticmethod
    def plane(*, half_size: float = 10.0, thickness: float = 1.0, mu: float | None = None) -> Object:
        """A level ground: solid below z = 0 of its own frame (m)."""

    @staticmethod
    def mesh(*, vertices: ArrayLike, triangles: ArrayLike, name: str = "mesh", mu: float | None = None) -> Object:
        """A triangle mesh. vertices: (n, 3) in metres. triangles: (m, 3) indices, counter-clockwise seen from outside."""

    @staticmethod
    def height_field(heights: ArrayLike, *, size: ArrayLike, base: float = 0.01, mu: float | None = None) -> Object:
        """A ground from heights (m), (rows, cols), row 0 at +y, over a rectangle of whole extent size (m), (2,)."""

    @staticmethod
    def indenter(name: str, *, mu: float | None = None) -> Object:
        """One of the indenters for optical gels, its tip at the origin."""

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, unit: str | None = None, repair: bool = False, mu: float | None = None
    ) -> Object:
        """A mesh file: STL, OBJ, PLY or glTF. unit: "m", "cm", "mm" or "in"."""

    @property
    def name(self) -> str: ...
    @property
    def mu(self) -> float | None: ...
    @property
    def vertices(self) -> NDArray[np.float64]: ...
    @property
    def triangles(self) -> NDArray[np.uint32]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def closed(self) -> bool: ...
    def __copy__(self) -> Object: ...
    def __deepcopy__(self, memo: Any, /) -> Object: ...

@final
class Touch:
    """What a skin feels, in the sensor's frame."""

    @property
    def on_sensor(self) -> NDArray[np.float64]:
        """Force (N) and torque (N m) on the sensor, about its origin, (6,)."""

    @property
    def on_objects(self) -> NDArray[np.float64]:
        """Force (N) and torque (N m) on each object, about the sensor's origin, (objects, 6)."""

    @property
    def points(self) -> NDArray[np.float64]:
        """Middle of each facet (m), (facets, 3)."""

    @property
    def forces(self) -> NDArray[np.float64]:
        """Force on the sensor from each facet (N), (facets, 3)."""

    @property
    def normals(self) -> NDArray[np.float64]:
        """Contact normal of each facet, out of the sensor, (facets, 3)."""

    @property
    def areas(self) -> NDArray[np.float64]:
        """Area of each facet (m²), (facets,)."""

    @property
    def depths(self) -> NDArray[np.float64]:
        """How deep each facet is in the skin (m), (facets,)."""

    @property
    def objects(self) -> NDArray[np.uint32]:
        """Which object each facet belongs to, (facets,)."""

    @property
    def area(self) -> float:
        """Area in contact (m²)."""

    @property
    def max_depth(self) -> float:
        """Greatest depth (m)."""

    @property
    def saturated(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def surface(self) -> NDArray[np.float64] | None:
        """Displacement of the skin's surface (m), (rows, cols, 3), where the skin knows it."""

    @property
    def base(self) -> NDArray[np.float64] | None:
        """Stress vector on the base (Pa), (rows, cols, 3), where the skin knows it."""

    @property
    def cell(self) -> float | None:
        """Edge of a cell of surface and base (m)."""

    def __copy__(self) -> Touch: ...
    def __deepcopy__(self, memo: Any, /) -> Touch: ...

@final
class Features:
    """Moments of a tactile image, in the plane of the sensor."""

    @property
    def total(self) -> float: ...
    @property
    def center(self) -> NDArray[np.float64]: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    @property
    def direction(self) -> float: ...
    @property
    def eccentricity(self) -> float: ...
    @property
    def spreads(self) -> NDArray[np.float64]: ...
    @property
    def area(self) -> float: ...
    @property
    def kind(self) -> str: ...

@final
class Reading:
    """What a sensor reports of one touch. Forces act on the sensor and are in its frame (N)."""

    @property
    def taxels(self) -> NDArray[np.float64]:
        """Force along each taxel's normal (N), positive in compression, (rows, cols) or (taxels,)."""

    @property
    def reported(self) -> NDArray[np.float64]:
        """What the device says the force on each taxel is (N), after its response."""

    @property
    def raw(self) -> NDArray[np.uint32]:
        """The device's own numbers, counts."""

    @property
    def forces(self) -> NDArray[np.float64]:
        """Force vector on each taxel (N), (rows, cols, 3) or (taxels, 3)."""

    @property
    def pressures(self) -> NDArray[np.float64] | None:
        """Pressure of each taxel as rays see it (Pa)."""

    @property
    def force(self) -> NDArray[np.float64]:
        """Force on the sensor (N), (3,)."""

    @property
    def wrench(self) -> NDArray[np.float64]:
        """Force (N) and torque (N m) on the sensor, about its origin, (6,)."""

    @property
    def outside(self) -> NDArray[np.float64]:
        """Force where there is no taxel (N), (3,)."""

    @property
    def sum(self) -> float: ...
    @property
    def lit(self) -> int: ...
    @property
    def saturated(self) -> int: ...
    @property
    def touch(self) -> Touch: ...
    @property
    def sensor(self) -> str: ...
    @property
    def pose(self) -> NDArray[np.float64] | None:
        """Where a press left the object: sensor_from_object, (4, 4)."""

    @property
    def travel(self) -> float | None:
        """How far a press went past first contact (m)."""

    @property
    def centers(self) -> NDArray[np.float64]:
        """Middle of each taxel (m), (rows, cols, 3) or (taxels, 3)."""

    @property
    def image(self) -> NDArray[np.uint8]:
        """What the camera sees, (height, width, 3)."""

    @property
    def depth(self) -> NDArray[np.float32]:
        """How far the gel is pressed in at each pixel (m), (height, width)."""

    @property
    def normals(self) -> NDArray[np.float32]:
        """Unit normals of the seen surface, (height, width, 3)."""

    @property
    def markers(self) -> NDArray[np.float64]:
        """Column, row before the touch and column, row now of each marker (pixels), (markers, 4)."""

    @property
    def flow(self) -> NDArray[np.float32]:
        """How far what each pixel saw has moved, right and down (pixels), (height, width, 2)."""

    def features(self, *, least: float = 0.0) -> Features | None: ...
    def show(self, *, path: str | os.PathLike[str] | None = None, block: bool = False) -> Any:
        """Draws the reading with matplotlib and returns the figure."""

    def __copy__(self) -> Reading: ...
    def __deepcopy__(self, memo: Any, /) -> Reading: ...

@final
class Batch:
    """The readings of many presses of one sensor: a sequence, and all of them as one array."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Reading: ...
    def __iter__(self) -> Iterator[Reading]: ...
    @property
    def taxels(self) -> NDArray[np.float64]: ...
    @property
    def reported(self) -> NDArray[np.float64]: ...
    @property
    def raw(self) -> NDArray[np.uint32]: ...
    @property
    def forces(self) -> NDArray[np.float64]: ...
    @property
    def force(self) -> NDArray[np.float64]: ...
    @property
    def wrench(self) -> NDArray[np.float64]: ...
    @property
    def outside(self) -> NDArray[np.float64]: ...
    @property
    def saturated(self) -> NDArray[np.uint32]: ...
    @property
    def travel(self) -> NDArray[np.float64]: ...
    @property
    def image(self) -> NDArray[np.uint8]: ...
    @property
    def depth(self) -> NDArray[np.float32]: ...

class _OnGpu(Protocol):
    """A tensor of another library on the GPU: PyTorch's, CuPy's, JAX's."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

@final
class DeviceArray:
    """Numbers in the memory of a GPU: ``torch.from_dlpack(x)`` takes them without a copy, ``x.numpy()`` with one."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    def numpy(self) -> NDArray[Any]:
        """A copy on the host."""

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
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@final
class DeviceBatch:
    """The readings of many presses of one sensor, in the memory of a GPU: as numpy arrays, copied when they are asked for, or
    where they are (``…_on_device``), for ``torch.from_dlpack`` and others."""

    def __len__(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def taxels(self) -> NDArray[np.float64]: ...
    @property
    def reported(self) -> NDArray[np.float64]: ...
    @property
    def raw(self) -> NDArray[np.uint32]: ...
    @property
    def forces(self) -> NDArray[np.float64]: ...
    @property
    def force(self) -> NDArray[np.float64]: ...
    @property
    def wrench(self) -> NDArray[np.float64]: ...
    @property
    def outside(self) -> NDArray[np.float64]: ...
    @property
    def saturated(self) -> NDArray[np.uint32]: ...
    @property
    def travel(self) -> NDArray[np.float64]: ...
    @property
    def image(self) -> NDArray[np.uint8]: ...
    @property
    def taxels_on_device(self) -> DeviceArray: ...
    @property
    def forces_on_device(self) -> DeviceArray: ...
    @property
    def force_on_device(self) -> DeviceArray: ...
    @property
    def wrench_on_device(self) -> DeviceArray: ...
    @property
    def outside_on_device(self) -> DeviceArray: ...
    @property
    def saturated_on_device(self) -> DeviceArray: ...
    @property
    def image_on_device(self) -> DeviceArray: ...

@final
class Environments:
    """Many sensors of one kind, each with an object of one kind: environments whose history stays on a GPU."""

    def __len__(self) -> int: ...
    def step(self, poses: ArrayLike | _OnGpu, twists: ArrayLike | _OnGpu | None = None, *, dt: float) -> DeviceBatch:
        """Lets the object of every environment move for a time dt (s)."""

    def reset(self, which: Sequence[bool] | None = None) -> None:
        """Lets go: in those environments where which is True, or in all."""

@final
class State:
    """The history of a sensor, to keep and to go back to."""

    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any, /) -> State: ...

@final
class Sensor:
    """A tactile sensor: a soft skin over a transducer, with the history of what has touched it."""

    @staticmethod
    def preset(name: str, *, skin: str | None = None, parameters: Mapping[str, Any] | None = None) -> Sensor:
        """One of the sensors that ship with dermis."""

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, skin: str | None = None, parameters: Mapping[str, Any] | None = None
    ) -> Sensor:
        """A sensor from its description, a TOML file."""

    @staticmethod
    def parse(
        text: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        skin: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Sensor:
        """A sensor from the text of its description (TOML)."""

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
        """Presses an object along -z into the sensor, from rest and infinitely slowly. depth (m) or force (N)."""

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
        """Many presses at once, on all cores or on a GPU, each from rest."""

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
        """Many environments that go on in time on a GPU, each with a sensor like this one and an object like obj."""

    def step(
        self,
        objects: Object | Sequence[tuple[Object, ArrayLike] | tuple[Object, ArrayLike, ArrayLike | None]],
        *,
        dt: float,
        pose: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
        sensor_twist: ArrayLike | None = None,
    ) -> Reading:
        """Lets things move for dt (s) and reads the sensor with all of its response."""

    def settle(
        self,
        objects: Object | Sequence[tuple[Object, ArrayLike] | tuple[Object, ArrayLike, ArrayLike | None]],
        *,
        pose: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
    ) -> Reading:
        """Holds things where they are until nothing changes any more."""

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
        """Reads contact points of another engine: points (m) and forces on the sensor (N), (n, 3) each."""

    def reset(self) -> None: ...
    @property
    def state(self) -> State: ...
    @state.setter
    def state(self, state: State) -> None: ...
    def stable_step(self, *, mass: float, size: ArrayLike) -> float:
        """The largest stable time step (s) for a free body of mass (kg) and size (m), (3,)."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def toml(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def centers(self) -> NDArray[np.float64]: ...
    @property
    def normals(self) -> NDArray[np.float64]: ...
    @property
    def areas(self) -> NDArray[np.float64]: ...
    @property
    def max_depth(self) -> float: ...
    @property
    def rate(self) -> float | None:
        """How often the device looks at its taxels (Hz); None where its description does not say."""

    @property
    def image_shape(self) -> tuple[int, int, int] | None: ...
    @property
    def mesh(self) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...
    def __copy__(self) -> Sensor: ...
    def __deepcopy__(self, memo: Any, /) -> Sensor: ...

@final
class Recording:
    """What sensors felt and where bodies were during a run, row by row."""

    @property
    def times(self) -> NDArray[np.float64]: ...
    @property
    def sensors(self) -> list[str]: ...
    @property
    def bodies(self) -> list[str]: ...
    def taxels(self, sensor: str) -> NDArray[np.float64]:
        """Normal force on each taxel (N), (rows, taxels)."""

    def force(self, sensor: str) -> NDArray[np.float64]:
        """Force on a sensor, in its frame (N), (rows, 3)."""

    def positions(self, body: str) -> NDArray[np.float64]:
        """Position of a body (m), (rows, 3)."""

    @property
    def phases(self) -> list[tuple[float, str]]: ...
    def __len__(self) -> int: ...

@final
class World:
    """Rigid bodies with tactile sensors. Poses and twists are in the world's frame, z up."""

    def __new__(
        cls,
        *,
        gravity: ArrayLike | None = None,
        time_step: float = 1e-3,
        ground: float | None = None,
        ground_friction: float = 0.5,
    ) -> World: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> World:
        """A world from a scene file (TOML)."""

    @staticmethod
    def parse(text: str, *, folder: str | os.PathLike[str] | None = None) -> World:
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
        """Puts a body in: motion "fixed", "driven" or "free" (with a mass in kg)."""

    def mount(self, name: str, sensor: Sensor, *, body: str, pose: ArrayLike | None = None) -> None:
        """Mounts a sensor on a body, at a pose of the body's frame."""

    def step(self, count: int = 1) -> None: ...
    def run(
        self,
        *,
        duration: float | None = None,
        record: str | os.PathLike[str] | None = None,
        format: str | None = None,
        image_every: float = ...,
    ) -> Recording:
        """Runs to the end of the scene, or for duration (s). record: an .mcap or .parquet file or a folder, written on the way."""

    @property
    def time(self) -> float: ...
    @property
    def time_step(self) -> float: ...
    @property
    def stable_step(self) -> float | None: ...
    @property
    def phase(self) -> str | None: ...
    @property
    def bodies(self) -> list[str]: ...
    @property
    def sensors(self) -> list[str]: ...
    def pose(self, body: str) -> NDArray[np.float64]:
        """Where a body is: world_from_body, (4, 4)."""

    def twist(self, body: str) -> NDArray[np.float64]:
        """How a body moves, at its origin (m/s, rad/s), (6,)."""

    def set_twist(self, body: str, twist: ArrayLike) -> None: ...
    def reading(self, sensor: str) -> Reading: ...
    def sensor(self, name: str) -> Sensor:
        """A sensor of the same kind as one of the world's, that nothing has touched."""

    def mesh(self, body: str) -> tuple[NDArray[np.float64], NDArray[np.uint32]] | None:
        """Corners (m), (n, 3), and triangles, (m, 3), of what can be seen of a body, in its frame."""

    def sensor_pose(self, sensor: str) -> NDArray[np.float64]:
        """Where a sensor is: world_from_sensor, (4, 4)."""

    def load_on(self, body: str, *, sensor: str) -> NDArray[np.float64]:
        """Load of the last step on a body from a sensor (N, N m), in the world's frame about the sensor's origin, (6,)."""

@final
class Bench:
    """What a bench measured of a taxel array."""

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
    @property
    def taxel(self) -> NDArray[np.uint32]: ...
    @property
    def depth(self) -> NDArray[np.float64]: ...
    @property
    def force(self) -> NDArray[np.float64]: ...
    @property
    def raw(self) -> NDArray[np.uint32]: ...
    @property
    def creep(self) -> NDArray[np.float64]: ...
    def presses_csv(self) -> str: ...
    def creep_csv(self) -> str: ...
    def __len__(self) -> int: ...

def characterise_sensor(sensor: Sensor, protocol: str) -> Bench: ...
def fit_sensor(sensor: Sensor, bench: Bench, kernel: int) -> tuple[Sensor, str]: ...
def compare_images(
    truth: ArrayLike, image: ArrayLike, mask: ArrayLike | None, window: str
) -> tuple[float, float, float, float, int]: ...
def experiment_list() -> list[tuple[str, str, bool]]: ...
def run_experiment(
    name: str,
    full: bool,
    data: str | os.PathLike[str] | None,
    skin: str | None,
    out: str | os.PathLike[str] | None,
) -> str: ...

class Dataset:
    def __new__(cls, text: str, file: str, folder: str | os.PathLike[str] | None) -> Dataset: ...
    def about(self) -> str: ...
    def make(
        self, out: str | os.PathLike[str], threads: int | None, tell: Callable[[int, int], object] | None
    ) -> None: ...
    def make_shards(self, out: str | os.PathLike[str], shards: list[int]) -> None: ...
    def missing(self, out: str | os.PathLike[str]) -> list[int]: ...
    def complete(self, out: str | os.PathLike[str]) -> None: ...

def check_dataset(folder: str | os.PathLike[str]) -> int: ...
