"""The compiled part of dermis. Import from ``dermis``.

Shapes are written (n, 3). Lengths are in m, forces in N, angles in rad, times in s. The sensor frame has its origin at the center of the
sensing surface and +z out of the skin; forces act on the sensor.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, Literal, Protocol, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, TypeVar

_Path = str | os.PathLike[str]
_Targets = Object | Sequence[tuple[Object, ArrayLike] | tuple[Object, ArrayLike, ArrayLike | None]]
_F32 = NDArray[np.float32]
_F64 = NDArray[np.float64]
_U32 = NDArray[np.uint32]
_Skin = Literal["springs", "hydroelastic", "layer", "imprint", "gel"]
_Unit = Literal["m", "cm", "mm", "in"]
_R = TypeVar("_R", bound=np.floating[Any], default=np.float64)
_DType = type[_R] | np.dtype[_R]

__version__: str

class Error(ValueError):
    """An input that dermis refuses. The message names the key, the rule and the value. A ValueError."""

def hydroelastic_modulus(
    *,
    young: float,
    poisson: float,
    depth: float | None = None,
    radius: float | None = None,
    indentation: float | None = None,
) -> float:
    """Hydroelastic modulus (Pa) of a body with Young's modulus young (Pa) and Poisson's ratio poisson.

    With depth (m, the depth of the body: thickness of a pad, about half that of a solid), radius and indentation (m): a
    rigid ball of that radius has the force of Hertz at that indentation. Without them: a pad thinner than its contacts
    are wide.

    >>> import dermis
    >>> round(dermis.hydroelastic_modulus(young=100e3, poisson=0.0))
    100000
    """

def presets() -> list[str]:
    """Names of the built-in sensors, for ``Sensor.preset``."""

class _Copyable:
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Object(_Copyable):
    """A rigid object that can touch sensors, in its own frame.

    ``Object("sphere:radius=10mm")`` takes the notation of the command line: a shape with its sizes and units, a shape
    alone, an indenter (``"indenter:moon"``), or the path of a mesh file with its ``unit`` ("m", "cm", "mm" or "in").
    The constructors below take metres. Objects are immutable; they can be shared, copied and pickled.
    """

    def __new__(cls, shape: _Path, *, unit: _Unit | None = None, mu: float | None = None) -> Object:
        ...

    @staticmethod
    def sphere(*, radius: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A sphere at the origin.

        radius: m. Every skin is in contact with the exact sphere. edge: longest triangle edge (m) of the mesh that is drawn;
        default: a fortieth of the diameter. mu: coefficient of friction (layers only); default: that of the skin.
        """

    @staticmethod
    def ellipsoid(*, semi_axes: ArrayLike, edge: float | None = None, mu: float | None = None) -> Object:
        """An ellipsoid at the origin.

        semi_axes: half extents along x, y and z (m), shape (3,). edge and mu: as for a sphere.
        """

    @staticmethod
    def box(*, size: ArrayLike, mu: float | None = None) -> Object:
        """An axis-aligned box at the origin.

        size: full extents along x, y and z (m), shape (3,). mu: as for a sphere.
        """

    @staticmethod
    def cylinder(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A cylinder along z at the origin.

        radius, length: metres. edge and mu: as for a sphere.
        """

    @staticmethod
    def capsule(*, radius: float, length: float, edge: float | None = None, mu: float | None = None) -> Object:
        """A capsule along z at the origin.

        radius: metres. length: length of the cylindrical part (m). edge and mu: as for a sphere.
        """

    @staticmethod
    def plane(*, half_size: float = 10.0, thickness: float = 1.0, mu: float | None = None) -> Object:
        """A solid plate whose top face is z = 0 of its frame.

        half_size: half extent along x and y (m). thickness: extent below z = 0 (m). mu: as for a sphere.
        """

    @staticmethod
    def mesh(*, vertices: ArrayLike, triangles: ArrayLike, name: str = "mesh", mu: float | None = None) -> Object:
        """A triangle mesh.

        vertices: metres, shape (n, 3). triangles: vertex indices, shape (m, 3), counter-clockwise seen from outside.
        With a closed mesh, contacts deeper than the skin are detected too. mu: as for a sphere.
        """

    @staticmethod
    def height_field(heights: ArrayLike, *, size: ArrayLike, base: float = 0.01, mu: float | None = None) -> Object:
        """A solid between a grid of heights and z = -base.

        heights: height over z = 0 of its frame (m), shape (rows, cols), row 0 at +y and column 0 at -x.
        size: full extent along x and y (m), shape (2,); the outermost heights lie on its rim.
        base: thickness below z = 0 (m). mu: as for a sphere.
        """

    @staticmethod
    def indenter(name: str, *, mu: float | None = None) -> Object:
        """A built-in indenter for optical gels, such as "moon". Its tip is at the origin; it presses along -z."""

    @staticmethod
    def load(path: _Path, *, unit: _Unit | None = None, repair: bool = False, mu: float | None = None) -> Object:
        """An object from a mesh file: STL, OBJ, PLY or glTF.

        unit: length unit of the file, "m", "cm", "mm" or "in"; required unless the format defines one. repair: drops
        triangles without area instead of refusing the file.
        """

    def resized(self, name: str, value: ArrayLike) -> Object:
        """The same object with another size: name is "scale", a factor on all sizes, or a size of its constructor (m):
        "radius", "semi_axes", "size" or "length". value: a number, or three for "semi_axes" and "size". Of a mesh also "vertices", (n, 3).
        Or with another "mu".
        """

    name: Final[str]
    """Name of the object in messages."""
    mu: Final[float | None]
    """Coefficient of friction; None: that of the skin is used."""
    vertices: Final[_F64]
    """Vertices of its mesh (m), shape (n, 3)."""
    triangles: Final[_U32]
    """Vertex indices of its triangles, shape (m, 3)."""
    bounds: Final[_F64]
    """Lower and upper corner of its bounding box (m), shape (2, 3)."""
    closed: Final[bool]
    """True if the surface encloses a solid."""

@final
class Touch(_Copyable):
    """The contact between a skin and objects: loads on both, contact facets and the deformed surface.

    All quantities are in the sensor frame: origin at the center of the sensing surface, +z out of the skin.
    """

    on_sensor: Final[_F64]
    """Force (N) and torque (N m) on the sensor, about its origin, shape (6,)."""
    on_objects: Final[_F64]
    """Force (N) and torque (N m) on each object, about the sensor's origin and in its frame, shape (objects, 6).
    Their sum is the opposite of ``on_sensor``.
    """
    points: Final[_F64]
    """Center of each contact facet (m), shape (facets, 3)."""
    forces: Final[_F64]
    """Force on the sensor from each facet (N), shape (facets, 3)."""
    normals: Final[_F64]
    """Contact normal of each facet, out of the sensor, shape (facets, 3)."""
    areas: Final[_F64]
    """Area of each facet (m²), shape (facets,)."""
    depths: Final[_F64]
    """Penetration of each facet into the skin (m), shape (facets,)."""
    objects: Final[_U32]
    """Index of the object of each facet, in the order of the objects passed to the sensor, shape (facets,)."""
    area: Final[float]
    """Contact area (m²)."""
    max_depth: Final[float]
    """Largest penetration (m)."""
    saturated: Final[int]
    """Number of facets beyond the range of the skin; their load is a lower bound."""
    warnings: Final[list[str]]
    """Warnings that the solution may be inaccurate."""
    surface: Final[_F64]
    """Displacement of the skin's surface (m), shape (rows, cols, 3), row 0 at +y; of a layer, a gel or an
    imprint.
    """
    base: Final[_F64]
    """Stress vector on the base under the skin (Pa), shape (rows, cols, 3); of a layer."""
    cell: Final[float]
    """Cell size of ``surface`` and ``base`` (m)."""

@final
class Features:
    """Image moments of the taxel forces, in the plane of the sensor."""

    total: Final[float]
    """Sum of the forces above the threshold (N)."""
    center: Final[_F64]
    """Center of pressure, x and y (m), shape (2,)."""
    covariance: Final[_F64]
    """Second moments about the center (m²), shape (2, 2)."""
    direction: Final[float]
    """Angle of the longer axis from +x towards +y (rad), in (-pi/2, pi/2]."""
    eccentricity: Final[float]
    """Eccentricity of the contact: 0 for a round contact, 1 for a line."""
    spreads: Final[_F64]
    """Half axes of the ellipse with the same second moments, the longer first (m), shape (2,)."""
    area: Final[float]
    """Area of the taxels above the threshold (m²)."""
    kind: Final[Literal["point", "edge"]]
    """"edge" if the contact is at least twice as long as wide, else "point"."""

@final
class Reading(_Copyable, Generic[_R]):
    """One reading of a sensor. Forces act on the sensor and are in its frame (N).

    Before the response, the sum of ``forces`` over all taxels plus ``outside`` equals ``force``.
    Images (``image``, ``depth``, ``normals``, ``markers``, ``flow``) are rendered on first access.

    What a sensor does not have raises AttributeError with the reason, so that ``hasattr(reading, "image")`` is False without a
    camera; so it is with ``markers``, ``magnetic``, ``pressures``, and ``surface``, ``base`` and ``cell`` of ``touch``. What
    only this reading does not have, such as the ``travel`` of a step, is None.
    """
    @property
    def taxels(self) -> NDArray[_R]:
        """Normal force on each taxel (N), positive in compression, before the response: shape (rows, cols), row 0 at +y,
        or (taxels,) for taxels without a grid.
        """
    @property
    def reported(self) -> NDArray[_R]:
        """Force that the sensor reports for each taxel (N), after its response; shape of ``taxels``."""
    raw: Final[_U32]
    """Raw counts of each taxel, after its response; shape of ``taxels``."""
    @property
    def forces(self) -> NDArray[_R]:
        """Force vector on each taxel (N); shape of ``taxels`` with a last axis of 3: x, y, z of the sensor frame."""
    @property
    def force(self) -> NDArray[_R]:
        """Force on the sensor (N), shape (3,)."""
    @property
    def wrench(self) -> NDArray[_R]:
        """Force (N) and torque (N m) on the sensor, about its origin, shape (6,)."""
    @property
    def outside(self) -> NDArray[_R]:
        """Force on the skin outside all taxels (N), shape (3,)."""
    image: Final[NDArray[np.uint8]]
    """Camera image, RGB, uint8, shape (height, width, 3). Issues the warning about a surface steeper than the presses
    that the light was fitted to.
    """
    depth: Final[_F32]
    """Indentation of the gel at each pixel (m), positive inwards, float32, shape (height, width)."""
    normals: Final[_F32]
    """Unit normals of the visible surface: right, up, towards the camera; float32, shape (height, width, 3)."""
    markers: Final[_F64]
    """Column and row of each marker before and after the contact (pixels), shape (markers, 4); of a gel with markers."""
    flow: Final[_F32]
    """Optical flow from the untouched to the current image: right and down (pixels), float32, shape
    (height, width, 2).
    """
    @property
    def pressures(self) -> NDArray[_R]:
        """Pressure of each taxel from sampled rays (Pa), shape of ``taxels``; of a sensor with ``reading.kind = "rays"``."""
    @property
    def magnetic(self) -> NDArray[_R]:
        """Flux density at each magnetometer (µT) in the frame of the chip, shape (chips, 3); of a sensor with magnets."""
    sum: Final[float]
    """Sum of ``taxels`` (N)."""
    active: Final[int]
    """Number of taxels with at least 1 % of the largest load."""
    saturated: Final[int]
    """Number of contact facets beyond the range of the skin."""
    touch: Final[Touch]
    """The contact that the reading was computed from: loads, facets, surface."""
    sensor: Final[str]
    """Name of the sensor."""
    pose: Final[_F64 | None]
    """Pose of the object after a press, sensor_from_object, shape (4, 4); None after a step."""
    travel: Final[float | None]
    """Travel of a press past first contact (m); None after a step."""
    centers: Final[_F64]
    """Center of each taxel in the sensor frame (m); shape of ``taxels`` with a last axis of 3."""
    def features(self, *, threshold: float = 0.0) -> Features | None:
        """Image moments of the taxel forces; None if no taxel is above ``threshold`` (N)."""
    def show(self, *, path: _Path | None = None, block: bool = False) -> Any:
        """Plots the taxels, and the camera image if there is one, with matplotlib and returns the figure.

        path: file to save the figure to. block: waits until the window is closed.
        """

@final
class Batch(_Copyable, Generic[_R]):
    """The readings of many presses of one sensor: a sequence of ``Reading``, and their values as stacked arrays.

    ``batch[3]`` is a reading and ``batch[10:20]`` a batch. Images are rendered on all cores at each access and not
    kept. What the sensor does not have raises AttributeError with the reason. Batches can be pickled.
    """
    @property
    def taxels(self) -> NDArray[_R]:
        """``Reading.taxels`` of all readings (N), shape (n, rows, cols) or (n, taxels)."""
    @property
    def reported(self) -> NDArray[_R]:
        """``Reading.reported`` of all readings (N), shaped like ``taxels``."""
    raw: Final[_U32]
    """``Reading.raw`` of all readings (counts), shaped like ``taxels``."""
    @property
    def forces(self) -> NDArray[_R]:
        """``Reading.forces`` of all readings (N), shape (n, rows, cols, 3) or (n, taxels, 3)."""
    @property
    def force(self) -> NDArray[_R]:
        """``Reading.force`` of all readings (N), shape (n, 3)."""
    @property
    def wrench(self) -> NDArray[_R]:
        """``Reading.wrench`` of all readings (N, N m), shape (n, 6)."""
    @property
    def outside(self) -> NDArray[_R]:
        """``Reading.outside`` of all readings (N), shape (n, 3)."""
    image: Final[NDArray[np.uint8]]
    """``Reading.image`` of all readings, uint8, shape (n, height, width, 3). Issues the first warning about the light
    of an image.
    """
    levels: Final[_F32]
    """Levels of the images before they are rounded to ``image``, float32, shape (n, height, width, 3)."""
    depth: Final[_F32]
    """``Reading.depth`` of all readings (m), float32, shape (n, height, width)."""
    normals: Final[_F32]
    """``Reading.normals`` of all readings, float32, shape (n, height, width, 3)."""
    markers: Final[_F64]
    """``Reading.markers`` of all readings (pixels), shape (n, markers, 4); of a gel with markers."""
    flow: Final[_F32]
    """``Reading.flow`` of all readings (pixels), float32, shape (n, height, width, 2)."""
    saturated: Final[_U32]
    """``Reading.saturated`` of all readings, shape (n,)."""
    @property
    def travel(self) -> NDArray[_R]:
        """``Reading.travel`` of all readings (m), shape (n,); NaN for presses at given poses."""
    warnings: Final[list[str]]
    """The first warning of each kind of all readings; of presses that miss their force, the one with the largest miss and its index."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Reading[_R]: ...
    @overload
    def __getitem__(self, index: slice, /) -> Batch[_R]: ...
    def __iter__(self) -> Iterator[Reading[_R]]: ...

class _OnGpu(Protocol):
    ...

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

@final
class DeviceArray:
    """An array in GPU memory.

    ``torch.from_dlpack(x)``, ``cupy.from_dlpack(x)`` or ``jax.dlpack.from_dlpack(x)`` share it without a copy and keep
    it alive. ``numpy.asarray(x)`` or ``x.numpy()`` copy it to the host. Do not write to it: other views share the
    memory.
    """

    shape: Final[tuple[int, ...]]
    """Extent along each axis, a tuple of ints."""
    dtype: Final[str]
    """Element type by its numpy name, such as "float64"."""
    __cuda_array_interface__: Final[dict[str, Any]]
    def numpy(self) -> NDArray[Any]:
        """Copies the array to a numpy array of the same shape and dtype."""

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
class DeviceBatch:
    """The readings of many presses of one sensor, in GPU memory.

    ``taxels``, ``forces``, ``force`` … are those of a ``Batch``: numpy arrays, copied to the host on access.
    ``taxels_on_device``, ``forces_on_device`` … are the same arrays in GPU memory:
    ``torch.from_dlpack(batch.forces_on_device)`` shares them without a copy and keeps the memory alive.
    ``warnings`` are those of the CPU, by the same rules.
    """

    device: Final[str]
    """Name of the GPU that holds the arrays."""
    taxels: Final[_F64]
    """``Reading.taxels`` of all readings (N), shape (n, rows, cols) or (n, taxels), copied."""
    reported: Final[_F64]
    """``Reading.reported`` of all readings (N), shape of ``taxels``, computed on the CPU."""
    raw: Final[_U32]
    """``Reading.raw`` of all readings (counts), shape of ``taxels``, computed on the CPU."""
    forces: Final[_F64]
    """``Reading.forces`` of all readings (N), shape (n, rows, cols, 3) or (n, taxels, 3), copied."""
    force: Final[_F64]
    """``Reading.force`` of all readings (N), shape (n, 3), copied."""
    wrench: Final[_F64]
    """``Reading.wrench`` of all readings (N, N m), shape (n, 6), copied."""
    outside: Final[_F64]
    """``Reading.outside`` of all readings (N), shape (n, 3), copied."""
    image: Final[NDArray[np.uint8]]
    """``Reading.image`` of all readings, uint8, shape (n, height, width, 3), copied."""
    saturated: Final[_U32]
    """``Reading.saturated`` of all readings, shape (n,), copied."""
    warnings: Final[list[str]]
    """The first warning of each kind of all readings."""
    travel: Final[_F64]
    """``Reading.travel`` of all readings (m), shape (n,); NaN for presses at given poses."""
    def __len__(self) -> int: ...
    taxels_on_device: Final[DeviceArray]
    """``taxels`` (N) in GPU memory, float64, shape (n, rows, cols) or (n, taxels)."""
    forces_on_device: Final[DeviceArray]
    """``forces`` (N) in GPU memory, float64, shape (n, rows, cols, 3) or (n, taxels, 3)."""
    force_on_device: Final[DeviceArray]
    """``force`` (N) in GPU memory, float64, shape (n, 3): a view of the first half of every ``wrench``."""
    wrench_on_device: Final[DeviceArray]
    """``wrench`` (N, N m) in GPU memory, float64, shape (n, 6)."""
    outside_on_device: Final[DeviceArray]
    """``outside`` (N) in GPU memory, float64, shape (n, 3)."""
    saturated_on_device: Final[DeviceArray]
    """``saturated`` in GPU memory, uint32, shape (n,)."""
    image_on_device: Final[DeviceArray]
    """``image`` in GPU memory, uint8, shape (n, height, width, 3)."""
    levels: Final[NDArray[np.float32]]
    """``Batch.levels`` of all readings, float32, shape (n, height, width, 3), copied."""
    levels_on_device: Final[DeviceArray]
    """``levels`` in GPU memory, float32, shape (n, height, width, 3): the images before rounding, rendered on access."""

@final
class Environments:
    """Many copies of a sensor, each with its own objects, stepped together on a GPU or on the CPU. Made by
    ``Sensor.environments``.

    ``bind`` names the arrays of other libraries once, ``launch`` then reads poses from them and writes loads to them in
    place. On a GPU, ``launch`` only enqueues work on a stream: it allocates nothing, copies nothing, does not wait, and
    can be captured in a CUDA graph; keep the environments alive as long as the graph.

    Several sensors, such as the fingers of a hand, are several of them, launched one after the other on the same stream, also
    in one graph.

    An invalid pose, velocity or index of an object sets the status of its environment, which has no contact in that step; other environments
    are not affected. ``check`` reads the status.
    """

    def __len__(self) -> int: ...
    device: Final[str]
    """Name of the device: "cpu", or the name of the GPU."""
    parameters: Final[dict[str, _F64]]
    """The randomised parameters of every environment, copied: a dict of arrays of shape (n,), and (n, 3) for "position" (m)
    and "rotation" (rad); empty without ``randomise``. Waits for the GPU.
    """
    status: Final[_U32]
    """Status of every environment since its last reset, uint32, shape (n,), copied: 0, or the sum of 1 (a pose or a
    velocity is not finite), 2 (a rotation is none), 4 (too far or too fast), 8 (deeper than the skin allows), 16 (the skin
    could not be solved), 32 (the index of an object is not in the list) and 64 (its history is not that of the ``steps`` of a launch). Waits for the GPU.
    """
    def bind(
        self,
        *,
        dt: float,
        pose: Any,
        object: Any = None,
        sensor_pose: Any = None,
        quaternion: Literal["wxyz", "xyzw"] = "wxyz",
        object_offset: ArrayLike | list[ArrayLike | None] | None = None,
        sensor_offset: ArrayLike | None = None,
        twist: Any = None,
        sensor_twist: Any = None,
        twist_order: Literal["linear", "angular"] = "linear",
        twist_at: Any = None,
        sensor_twist_at: Any = None,
        taxels: Any = None,
        reported: Any = None,
        forces: Any = None,
        wrench: Any = None,
        outside: Any = None,
        markers: Any = None,
        image: Any = None,
        on_object: Any = None,
        on_object_at: Any = None,
        on_sensor: Any = None,
        on_sensor_at: Any = None,
        add_to_object: bool | list[bool] | None = None,
        add_to_sensor: bool = False,
    ) -> None:
        """Names the arrays that ``launch`` reads and writes in place, and its time step dt (s).

        All are arrays of float32 or float64 with one row per environment, with any strides (such as ``d.xpos[:, b]``): on
        a GPU tensors of PyTorch, Warp, CuPy or JAX, on the CPU numpy arrays and CPU tensors. They are kept alive.

        Inputs: pose and sensor_pose, the poses of the object's body and of the sensor's body in the world: (n, 3),
        (n, 7), (n, 4, 4), or a tuple of positions (n, 3) and rotations (n, 4) or (n, 3, 3); quaternion: their order,
        "wxyz" (MuJoCo) or "xyzw" (Newton). Without sensor_pose, the sensor is at the origin. object_offset and
        sensor_offset: the fixed pose of the object and of the sensor in its body. twist and sensor_twist: linear (m/s) and
        angular (rad/s) velocity of each body in the world, (n, 6), at rest without; twist_order="angular" if the angular
        part is first. twist_at and sensor_twist_at: the points (m) whose velocity they give, in the world (n, 3), or one
        point (3,) in the body's frame; default: the body's origin.

        Several objects in each environment: pose is a list with an entry for each, and so are twist, twist_at, object_offset,
        on_object, on_object_at and add_to_object. An entry may be None, except in pose. Taxels under two objects read the one that is deeper
        there, as in ``Sensor.step``. object: index of each object in the list that ``Sensor.environments`` was made with, int32 or
        int64, (n,), or a list of these; it may change at any time, such as at a reset. Without it the objects are those of the list, in order, or
        all of them the only one. On a GPU, graphs that were captured with several objects must be captured again after another bind.

        Outputs: taxels, the loads (N), (n, taxels) or (n, rows, cols); reported, the readings after the response (N), of the
        same shape: bind it from the first launch on, because the response has memory; forces (N), (n, taxels, 3); wrench (N, N m) on the sensor about
        its origin, in its frame, (n, 6); outside (N), (n, 3). Of a sensor with a camera: markers, column and row of each
        marker in the image (pixels), (n, markers, 2), and image, uint8, (n, height, width, 3), images without gaps. on_object and on_sensor: force (N) and torque (N m) on each
        body in the world, (n, 6), about on_object_at and on_sensor_at, points as in twist_at; with
        add_to_object and add_to_sensor they are added to the arrays, else they replace their contents.
        """

    def launch(self, stream: Any = None, *, steps: Any = None, beside: bool = False) -> None:
        """Advances every environment by one time step: reads the bound inputs and writes the bound outputs.

        On a GPU, enqueues the work on a stream of PyTorch, Warp or CuPy, or on that with a handle (int); default: CUDA's
        default stream, which is also that of PyTorch. On the CPU, the outputs are written when the call returns; after Ctrl-C
        some environments have advanced and others have not.

        steps: the number of steps since its reset that the caller knows of each environment, int32 or int64, (n,), for callers without
        side effects, such as JAX: an environment where it is 0 is reset first; where it is not the number of its launches
        since then, its status says so. Give it from the first launch on. On a GPU, it is read when the stream arrives there.

        beside: in a CUDA graph that the stream captures, what follows on it does not wait for `reported`, which is computed beside it with a part of
        each multiprocessor, until the graph ends or `wait`: until then `reported` is not there, and `taxels` must not be written. Wait before the body of a condition, or
        a graph within the graph, that launches these environments. Without a graph it changes nothing.
        """

    def wait(self, stream: Any = None) -> None:
        """Lets what the stream captures from now on, in the graph of launches with `beside=True`, wait for their `reported`."""

    def reset(self, mask: Any = None, stream: Any = None) -> None:
        """Ends contact, clears status and memory of the response, and draws randomised parameters anew where the mask is not
        zero, bool, uint8, int32 or int64, shape (n,); default: everywhere. The noise of the response goes on. On a GPU, a mask in
        its memory is read when the stream arrives there, and a sequence of bools is copied.
        """

    def check(self) -> None:
        """Raises an Error that names the first environment with an invalid pose, velocity or index since its last reset, or whose skin
        could not be solved, and how many there are; else warns about contacts deeper than the skin allows, or, with a layer, about what
        its press warns about, in the last step. Waits for the GPU.
        """

    def step(self, poses: ArrayLike | _OnGpu, twists: ArrayLike | _OnGpu | None = None, *, dt: float) -> DeviceBatch:
        """Advances every environment, of one object each, on a GPU by dt (s), and returns all loads in new memory.

        poses: pose of each object for which the loads are computed, (n, 4, 4), (n, 7) or (n, 3). twists: velocity of the
        object's origin (m/s) and angular velocity (rad/s), (n, 6); default: at rest. Both are numpy arrays, or both GPU
        tensors.

        Returns a DeviceBatch of the n environments. Its ``warnings`` are computed on access; none are issued.
        """

@final
class State(_Copyable):
    """The state of a sensor: bristles, warm starts, particles, and the state of the response.

    ``saved = sensor.state`` saves the state and ``sensor.state = saved`` restores it exactly. States can be pickled.
    """

@final
class Sensor(_Copyable):
    """A tactile sensor: a soft skin over a transducer, with its state.

    Make one by ``Sensor.preset("uji-foam-14x6")`` (``dermis.presets()`` lists the names), ``Sensor.load("mine.toml")``
    or ``Sensor.parse(text)``. Lengths in m, forces in N, angles in rad, times in s.

    Sensor frame: origin at the center of the sensing surface, +z out of the skin, towards the objects. A pose is that
    of the object in the sensor frame (sensor_from_object): a (4, 4) matrix, (7,) position and quaternion
    (x, y, z, qw, qx, qy, qz), or (3,) position. A twist is the velocity of the object's origin (m/s) and its angular
    velocity (rad/s), (6,).

    ``press`` and ``settle`` are quasi-static; ``step`` advances time. All three update ``state``; ``reset`` clears it.
    Copies and pickles include the state (a pickle of a sensor made from files needs the files at the same paths). Use
    one copy per thread.
    """

    @staticmethod
    def preset(name: str, *, skin: _Skin | None = None, parameters: Mapping[str, Any] | None = None) -> Sensor:
        """A built-in sensor; ``dermis.presets()`` lists the names.

        skin: another skin model, "springs", "hydroelastic", "layer", "imprint" or "gel", if the sensor supports it.
        parameters: a dict of values of the description to change, with units, by keys with dots or in nested dicts:
        ``{"skin.stiffness": "1000 N/m", "surface.grid": {"rows": 40, "cols": 40}}``. A number in a key is the place of an item in
        a list, from 0: ``{"response.faults.stuck.0.taxel": 7}``.
        """

    @staticmethod
    def load(path: _Path, *, skin: _Skin | None = None, parameters: Mapping[str, Any] | None = None) -> Sensor:
        """A sensor from its description, a TOML file. skin and parameters: as for ``preset``."""

    @staticmethod
    def parse(
        text: str, *, folder: _Path | None = None, skin: _Skin | None = None, parameters: Mapping[str, Any] | None = None
    ) -> Sensor:
        """A sensor from the text of its description (TOML). folder: folder of the files that the description refers to."""

    def press(
        self,
        obj: Object,
        *,
        depth: float | None = None,
        force: float | None = None,
        at: ArrayLike | None = None,
        tilt: ArrayLike | None = None,
        yaw: float = 0.0,
        dtype: _DType[_R] = ...,
    ) -> Reading[_R]:
        """Presses an object along -z into the untouched sensor, quasi-statically and without sliding, and reads it.

        obj: the object; its z axis is that of the sensor unless tilted.
        depth: travel past first contact (m), or force: force on the sensor along -z (N); give one of them.
        A force that is missed by more than 1 %, because it is too small to be resolved, has a warning.
        at: x and y of the object's origin over the sensor (m), shape (2,); default: the origin.
        tilt: rotation about the sensor's x axis, then y (rad), shape (2,). yaw: rotation about z before that (rad).
        dtype: element type of the arrays of forces, numpy.float64 (the default) or numpy.float32.

        Returns a Reading: ``taxels`` (rows, cols), ``force`` (3,), ``image`` (height, width, 3) …; its ``pose`` is the
        final pose of the object. The sensor stays pressed, so ``step`` can continue from there. Raises dermis.Error (a
        ValueError) if the object misses the sensor or the goal exceeds the range of the skin; the state is then
        unchanged.

        >>> import dermis
        >>> ball = dermis.Object.sphere(radius=10e-3)
        >>> reading = dermis.Sensor.preset("uji-foam-14x6").press(ball, depth=2e-3)
        >>> reading.taxels.shape
        (14, 6)
        """

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
        progress: bool = False,
        dtype: _DType[_R] = ...,
    ) -> Batch[_R]:
        """Many presses in parallel, on all CPU cores or on a GPU, each of the untouched sensor. Does not change the state.

        Give either poses of the object, (n, 4, 4), (n, 7) or (n, 3); on a GPU they may also be a GPU tensor (of
        PyTorch, CuPy or JAX: any object with ``__dlpack__`` or ``__cuda_array_interface__``), which is not copied
        through the host. Or give depth (m) or force (N), each (n,) or a number, with at (m) and tilt (rad), each (n, 2)
        or (2,), and yaw (rad), (n,) or a number, as for ``press``.

        device: "cpu"; "cuda" or "cuda:0": an NVIDIA GPU, for springs, hydroelastic pads over grids, layers with their camera images, and
        gels; "auto": the GPU if it supports the presses, else the CPU, with one warning that gives the reason.

        progress: shows the number of finished presses on stderr, with tqdm if it is installed; on a GPU, of those to a
        depth or a force.
        dtype: element type of the arrays of forces, as for ``press``; those of a DeviceBatch are numpy.float64.

        Returns a Batch: a sequence of readings, with ``taxels``, ``force``, ``image`` … as stacked arrays; from a GPU, except
        for gels, a DeviceBatch, which has the same arrays and shares them without a copy. Issues each kind of warning once.
        Raises dermis.Error with the index of the first press that fails, and for "cuda" without a usable GPU.
        """

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
        device: Literal["cuda", "cuda:0"],
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
        device: Literal["cpu", "cuda", "cuda:0", "auto"],
        progress: bool = False,
        dtype: _DType[_R] = ...,
    ) -> Batch[_R] | DeviceBatch: ...
    def environments(
        self,
        obj: Object | Sequence[Object],
        count: int,
        *,
        device: Literal["cpu", "cuda", "cuda:0", "auto"] = "auto",
        randomise: dict[str, tuple[float, float]] | None = None,
        seed: int = 0,
        max_polygons: int | None = None,
        precision: Literal["double", "single"] | None = None,
    ) -> Environments:
        """Many untouched copies of this sensor, each with its own instance of obj, that step together in the arrays of other
        libraries. obj may also be a list of Objects: then ``bind`` names the objects of each environment. device: "cuda" (springs, hydroelastic skins, and layers), "cpu" (any skin) or "auto": a GPU if there is one and it
        supports the skin.

        randomise: ranges (low, high) from which every environment draws parameters of its own, when it is made and at each
        of its resets. Factors on those of the sensor: "stiffness" (all forces of the skin), "friction" (springs), "gain",
        "threshold", "noise" and "spread" (stages of its response). Displacement of the sensor in its frame: "position" (m)
        and "rotation" (rad), the same range for each axis. seed: that of the draws; equal on CPU and GPU.

        max_polygons: for hydroelastic skins with LuGre friction: polygons of the contact surface whose bristles are remembered in each
        environment on a GPU; by default an estimate from skin and objects. ``check`` names an environment with more.

        precision: that of contacts, forces, friction and their sums of springs on a GPU: "double" (default), or "single", for GPUs that are slow in
        double precision; its errors are stated in the guide (GPU). The CPU always computes in double precision.

        >>> import numpy as np, dermis
        >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
        >>> poses, taxels = np.tile([0, 0, 9e-3, 1, 0, 0, 0], (64, 1)), np.zeros((64, 14, 6))
        >>> envs = sensor.environments(ball, 64, device="cpu")
        >>> envs.bind(dt=1e-3, pose=poses, taxels=taxels)
        >>> envs.launch()
        >>> bool((taxels.sum(axis=(1, 2)) > 0).all())
        True
        """

    def step(
        self,
        objects: _Targets,
        *,
        dt: float,
        pose: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
        sensor_twist: ArrayLike | None = None,
        dtype: _DType[_R] = ...,
    ) -> Reading[_R]:
        """Advances the sensor by dt (s) while objects move, and reads it, including its response.

        objects: an Object with its ``pose`` and ``twist``, or a sequence of (Object, pose) or (Object, pose, twist).
        pose: the pose for which the loads are computed, in the sensor frame. twist: velocity (m/s, rad/s), (6,); default: at rest.
        The memory of the skin advances by dt: bristles slide with the velocity, and a layer that relaxes is loaded evenly from
        the step before to this one.
        sensor_pose, sensor_twist: pose and twist of the sensor; if given, all poses and twists are in the world frame,
        each twist with the velocity of its own frame's origin. dtype: as for ``press``.

        Returns a Reading. ``reading.touch.on_sensor`` (6,) and ``.on_objects`` (n, 6) are the loads (N, N m) about the
        sensor's origin, in its frame. On an error the state is unchanged.
        """

    def settle(
        self,
        objects: _Targets,
        *,
        pose: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
        dtype: _DType[_R] = ...,
    ) -> Reading[_R]:
        """Holds objects in place until the skin is at rest, and reads the sensor without its response.

        objects, pose, sensor_pose, dtype: as for ``step``.
        """

    def read_contacts(
        self,
        points: ArrayLike,
        forces: ArrayLike,
        *,
        normals: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        depths: ArrayLike | None = None,
        sensor_pose: ArrayLike | None = None,
        dtype: _DType[_R] = ...,
    ) -> Reading[_R]:
        """Reads contact points of another simulator, such as PyBullet or MuJoCo. A layer spreads their forces; other skins
        and the state are not used.

        points: positions (m), shape (n, 3). forces: forces on the **sensor** (N), shape (n, 3). normals: normals out
        of the sensor, shape (n, 3); default: against the forces. objects: index of the object of each point, shape
        (n,).
        depths: penetration depths (m), shape (n,), for ``reading.touch``; they do not change the forces.
        sensor_pose: pose of the sensor; if given, points, forces and normals are in the world frame.
        dtype: as for ``press``.
        """

    def reset(self) -> None:
        """Resets the sensor to its untouched state."""

    @property
    def state(self) -> State:
        """The state of the sensor, to save and restore."""

    @state.setter
    def state(self, state: State) -> None: ...
    def stable_step(self, *, mass: float, size: ArrayLike) -> float:
        """The largest stable time step (s) for a free body pressed on the whole skin, in a simulator that evaluates forces
        at the start of a step, as MuJoCo does.

        mass: mass of the body (kg). size: extents of the body along x, y and z (m), shape (3,); it is treated as a
        uniform box.
        """

    def vjp(
        self,
        obj: Object,
        poses: ArrayLike | _OnGpu,
        cotangents: dict[str, Any],
        *,
        device: Literal["auto", "cpu", "cuda", "cuda:0"] = "cpu",
        vertices: bool = False,
    ) -> dict[str, _F64]:
        """Derivatives of a scalar with respect to object and sensor, from those with respect to readings: one vector-Jacobian
        product for each press at a pose, on all CPU cores or on a GPU.

        obj, poses: as for ``press_batch``. cotangents: the derivatives by some of "force" and "torque" (n, 3), "taxels",
        "reported" and "forces" (in the shape of ``Batch``), "markers" (n, markers, 2: column and row under contact) and
        "image" (n, height, width, 3: ``Batch.levels``), and "magnetic" (n, chips, 3: ``Reading.magnetic`` in µT, before rounding, of magnets in a layer).

        Returns a dict of arrays (n, k) in SI units: "position" (3) and "rotation" (3: a rotation vector in the sensor
        frame about the object's origin), "scale" and the sizes of the object ("radius", "semi_axes", "size", "length"), and
        parameters of the sensor: "stiffness" of springs, "hydroelastic_modulus", "young", "poisson", "thickness" and "mu" of a
        layer, "remanence" or "moment" of magnets, "gain" and "offset" of the response, "mount_stiffness" of the camera, "azimuth", "elevation", "diffuse", "specular" or "levels" of the light.
        With vertices also "vertices" (vertices, 3), by those of a mesh in the frame of the object, summed over all presses.

        device: "cpu"; "cuda": an NVIDIA GPU, for layers; poses and the cotangent of the image may then be GPU tensors (of float32), and of the
        parameters of the sensor there are "young" and "mu"; "auto": the GPU if it supports this, else the CPU, with one warning.
        Raises dermis.Error for NaN, and for skins without gradients.

        >>> import dermis, numpy
        >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
        >>> by = sensor.vjp(ball, [[0, 0, 8e-3]], {"force": numpy.array([[0, 0, -1.0]])})
        >>> by["position"].shape
        (1, 3)
        """

    def vjp_path(
        self, obj: Object, poses: ArrayLike, twists: ArrayLike, cotangents: dict[str, Any], *, dt: float, vertices: bool = False
    ) -> dict[str, _F64]:
        """Derivatives of a scalar with respect to the motion of an object in each step of a path, to the object and to the sensor, from
        those with respect to the readings of all steps: one vector-Jacobian product through time, for springs with any friction.

        The path is that of ``step`` with each pose and twist in turn, from the present state of the sensor, which does not change.
        obj: the object. poses: (steps, 4, 4), (steps, 7) or (steps, 3). twists: velocity of the object's origin (m/s) and angular
        velocity (rad/s), (steps, 6), in the sensor frame. dt: time of a step (s).
        cotangents: the derivatives by some of "force" and "torque" (steps, 3), "taxels", "forces" and "reported" (steps, …); the
        memory and the noise of the response are left out.

        Returns a dict of arrays in SI units: "position" and "rotation" (steps, 3) as for ``vjp``, "twist" (steps, 6), and sums over all steps, (k,):
        "scale" and the sizes of the object, "stiffness" and "damping" or those per area, "sigma0", "sigma1", "viscous",
        "mu_static", "mu_dynamic" and "stribeck_speed" of LuGre friction, "mu" and "regularisation_speed" of Coulomb friction, "gain",
        "offset" and "sigma" of the response. With vertices also "vertices" (vertices, 3), by those of a mesh.

        Contact is held constant: where a contact point begins or ceases to touch the derivative is one-sided. Raises dermis.Error
        for NaN, for other skins, and for arrays of other numbers of steps.

        >>> import dermis, numpy
        >>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
        >>> poses, twists = numpy.tile([0, 0, 9e-3], (5, 1)), numpy.tile([0.01, 0, 0, 0, 0, 0], (5, 1))
        >>> by = sensor.vjp_path(ball, poses, twists, {"force": numpy.ones((5, 3))}, dt=1e-3)
        >>> by["position"].shape, by["twist"].shape, by["radius"].shape
        ((5, 3), (5, 6), (1,))
        """

    def with_parameters(self, parameters: Mapping[str, Any]) -> Sensor:
        """The same sensor, untouched, with other parameters: as for ``preset``."""

    name: Final[str]
    """Name of the sensor."""
    description: Final[str]
    """Description of the sensor and the sources of its parameters."""
    toml: Final[str]
    """Description of the sensor as TOML: ``Sensor.parse(sensor.toml)`` makes the same sensor."""
    shape: Final[tuple[int, ...]]
    """Shape of ``reading.taxels``: (rows, cols), or (taxels,) without a grid."""
    centers: Final[_F64]
    """Center of each taxel (m), shape (taxels, 3), row by row."""
    normals: Final[_F64]
    """Outward unit normal of each taxel, shape (taxels, 3)."""
    areas: Final[_F64]
    """Area of each taxel (m²), shape (taxels,)."""
    max_depth: Final[float]
    """Largest penetration that the skin can represent (m)."""
    rate: Final[float | None]
    """Sampling rate (Hz); None if the description defines none."""
    image_shape: Final[tuple[int, int, int] | None]
    """Shape of ``reading.image``, (height, width, 3); None without a camera."""
    mesh: Final[tuple[_F64, _U32]]
    """Vertices (m), shape (n, 3), and triangles, shape (m, 3), of the undeformed skin."""

@final
class Attachment:
    """A sensor attached to a MuJoCo simulation, made by ``dermis.mujoco.attach``."""

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
        mode: Literal["sense", "couple", "contacts"] = "contacts",
        coupling: Literal["implicit", "explicit"] = "implicit",
    ) -> Attachment: ...
    model: Final[Any]
    """The mujoco.MjModel."""
    data: Final[Any]
    """The mujoco.MjData."""
    mode: Final[Literal["sense", "couple", "contacts"]]
    """Mode of the attachment: "sense", "couple" or "contacts"."""
    sensor: Final[Sensor]
    """A copy of the sensor with its current state."""
    objects: Final[list[str]]
    """Names of the geoms that the sensor may touch, in the order of ``reading.touch.on_objects``."""
    pose: Final[_F64]
    """Pose of the sensor, world_from_sensor, shape (4, 4)."""
    def read(self, data: Any = None) -> Reading:
        """Reads the sensor in the state after mj_step or mj_forward.

        "sense": the time since the last reading is one step of the sensor. Reading again at the same time changes
        nothing. Warns once if an object rests on the skin and its force differs from MuJoCo's contact force by more than a
        factor of two.
        "contacts": the same, with the contact forces of MuJoCo.
        "couple": the sensor steps with MuJoCo; returns its reading in the last step.
        Issues the warnings of the skin since the start, each kind once.
        When time has gone back, as after a reset, the sensor starts untouched, unless "couple" has seen the same state in
        one of the last 64 steps. Raises dermis.Error if a pose is not finite now or was not finite in a step since the
        last reading (the simulation can continue), if a copy of the model was stepped in "couple", and if nothing but
        attachments refers to the data any more: it was replaced, as by MjSpec.recompile or a hard reset of robosuite.

        data: another mujoco.MjData of the model to read instead of the attached one. In "couple", reading a copy (``copy.copy``) when
        it is made keeps the history for it, however far the attached one goes meanwhile.
        Raises dermis.Error if it was made with another model, and after ``detach``.
        """

    def reset(self) -> None:
        """Resets the sensor to its untouched state, in all mjData."""

    def detach(self) -> None:
        """Ends the attachment: `read`, `reset` and `pose` raise. In mode "couple", MuJoCo computes the contacts again."""

@final
class Recording:
    """Readings and body positions of a run, one row per recorded time. Recordings can be pickled."""

    times: Final[_F64]
    """Time of each row (s), shape (rows,)."""
    sensors: Final[list[str]]
    """Names of the sensors."""
    bodies: Final[list[str]]
    """Names of the bodies that can move."""
    phases: Final[list[tuple[float, str]]]
    """Start time (s) and name of each phase of the task."""
    warnings: Final[list[str]]
    """Warnings of skins, world and task: results outside the range of a skin, loads that no sensor reads, bodies that
    passed a sensor or left the scene, a task that is not finished.
    """
    def taxels(self, sensor: str) -> _F64:
        """Normal force on each taxel of a sensor (N), shape (rows, taxels)."""

    def force(self, sensor: str) -> _F64:
        """Force on a sensor, in its frame (N), shape (rows, 3)."""

    def positions(self, body: str) -> _F64:
        """Position of a body in the world frame (m), shape (rows, 3)."""

    def __len__(self) -> int: ...

@final
class World:
    """Rigid bodies with tactile sensors. The contact loads that the sensors read also act on the bodies.

    ``World.load("scene.toml")`` builds a scene file with its gripper and task; ``World()`` is empty and filled with
    ``add_body`` and ``mount``. Poses and twists are in the world frame, z up.

    gravity: acceleration (m/s²), shape (3,). time_step: s. ground: height of a ground plane (m) that solid bodies
    collide with; default: none. ground_friction: its coefficient of friction. solid_friction: that between solid bodies.
    solid_frequency: stiffness of the contacts of solid bodies (Hz): a body at rest sinks by g/(2πf)², times the number of
    times that its load is heavier than itself. coupling: the instant of the contact forces, "explicit" (start of the
    step; refuses time steps that are unstable with the skin's stiffness) or "implicit" (end of the step; any time step is
    stable, springs and hydroelastic skins only); default: explicit if the time step is stable so.

    Copies (``copy.deepcopy``) and pickles continue with the same bytes as the world (a pickle of a world whose scene or
    sensors refer to files needs the files at the same paths).
    """

    def __new__(
        cls,
        *,
        gravity: ArrayLike | None = None,
        time_step: float = 1e-3,
        ground: float | None = None,
        ground_friction: float = 0.5,
        solid_friction: float = 0.5,
        solid_frequency: float = 1e3,
        coupling: Literal["implicit", "explicit"] | None = None,
    ) -> World:
        ...

    @staticmethod
    def load(path: _Path) -> World:
        """A world from a scene file (TOML): bodies, sensors, a gripper and its task."""

    @staticmethod
    def parse(text: str, *, folder: _Path | None = None) -> World:
        """A world from the text of a scene file. folder: folder of the files that the scene refers to."""

    def add_body(
        self,
        name: str,
        obj: Object | None = None,
        *,
        motion: Literal["fixed", "driven", "free"] = "fixed",
        mass: float | None = None,
        pose: ArrayLike | None = None,
        twist: ArrayLike | None = None,
        solid: bool = False,
    ) -> None:
        """Adds a body.

        obj: its surface, if it can touch sensors. motion: "fixed", "driven" (by ``set_twist``) or "free" (needs a mass
        and a closed object). mass: mass (kg), uniform over the object. pose, twist: initial pose and velocity (m/s,
        rad/s). solid: True if the body collides with the ground and with other solid bodies.
        """

    def mount(self, name: str, sensor: Sensor, *, body: str, pose: ArrayLike | None = None) -> None:
        """Mounts an untouched sensor on a body, at a pose in the body frame."""

    def step(self, count: int = 1) -> None:
        """Advances the world by ``count`` time steps: sensors, bodies and the task of a scene. Issues the warnings of the
        skins and of the world, each kind once per sensor; that of few contact points when the force no longer rises,
        if it came with a tenth of the largest force.
        """

    def run(
        self,
        *,
        duration: float | None = None,
        record: _Path | None = None,
        format: Literal["mcap", "ros2", "parquet", "npy", "png"] | None = None,
        image_every: float = ...,
        overwrite: bool = False,
        progress: bool = False,
    ) -> Recording:
        """Runs to the end of the scene, or for ``duration`` (s) from now, and returns a recording. Issues its warnings.

        record: a file to write during the run, readable at any time: ``.mcap`` (Foxglove), ``.parquet``, or a folder of
        arrays and images. format: "mcap", "ros2" (a bag, in a folder), "parquet", "npy" or "png"; default:
        from the file name.
        image_every: time between two recorded images (s).
        overwrite: replace an existing recording. progress: shows the progress on stderr, with tqdm if it is installed.
        """

    time: Final[float]
    """Simulated time (s)."""
    time_step: Final[float]
    """Time step (s)."""
    stable_step: Final[float | None]
    """The largest stable time step (s) with explicit coupling; None if there is no limit."""
    phase: Final[str | None]
    """Current phase of the scene's task, such as "Lift"; None without a task."""
    warnings: Final[list[str]]
    """Warnings since the start: loads that no sensor reads, and bodies that passed a sensor or left the scene."""
    energy: Final[dict[str, float]]
    """Energy balance (J) since the start, the last ``run`` or the copy: changes of "kinetic", "potential" and "elastic" energy; what was
    dissipated by "friction" and "damping" of the skins and by contacts of "solids"; the work of "drives" and of "prescribed"
    motions; "on_skins", stored or damped by skins that do not compute their energy; and "residual", what none of these
    explains. It belongs to the poses before the last step.
    """
    bodies: Final[list[str]]
    """Names of the bodies."""
    sensors: Final[list[str]]
    """Names of the sensors."""
    def pose(self, body: str) -> _F64:
        """Pose of a body, world_from_body, shape (4, 4)."""

    def twist(self, body: str) -> _F64:
        """Velocity (m/s) of a body's origin and angular velocity (rad/s), shape (6,)."""

    def set_twist(self, body: str, twist: ArrayLike) -> None:
        """Sets the velocity (m/s) of the origin of a driven or free body and its angular velocity (rad/s), shape (6,)."""

    def reading(self, sensor: str) -> Reading:
        """The reading of a sensor after the last step."""

    def sensor(self, name: str) -> Sensor:
        """An untouched copy of a sensor."""

    def mesh(self, body: str) -> tuple[_F64, _U32] | None:
        """Vertices (m), shape (n, 3), and triangles, shape (m, 3), of the visible part of a body, in its frame; None if
        there is none.
        """

    def sensor_pose(self, sensor: str) -> _F64:
        """Pose of a sensor, world_from_sensor, shape (4, 4)."""

    def load_on(self, body: str, *, sensor: str) -> _F64:
        """Force (N) and torque (N m) of a sensor on a body in the last step, in the world frame about the sensor's origin,
        shape (6,).
        """

@final
class Bench:
    """Measurements of a taxel array on a test bench: presses on every taxel, and the creep of one taxel under constant
    load.

    Made by ``dermis.calibration.characterise`` or from arrays, one entry per reading:
    taxel: index of the taxel under the indenter, (n,). press: index of the press of this taxel, (n,). held: time since
    the depth was reached (s), (n,). depth: depth of the indenter (m), zero between presses, (n,). force: force of the
    indenter (N), (n,). raw: raw counts of all taxels, (n, taxels). rise: temperature above a reference (K), (n,), if it
    was measured. rest: time without load before each reading (s), (n,), if there are no readings between presses.
    creep_time: time since loading (s), (m,). creep_force: force of the indenter (N), (m,). creep_raw: raw counts of the
    taxel ``creep_taxel``, (m,).
    """

    def __new__(
        cls,
        *,
        taxel: ArrayLike,
        press: ArrayLike,
        held: ArrayLike,
        depth: ArrayLike,
        force: ArrayLike,
        raw: ArrayLike,
        rise: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        creep_time: ArrayLike | None = None,
        creep_force: ArrayLike | None = None,
        creep_raw: ArrayLike | None = None,
        creep_taxel: int = 0,
    ) -> Bench: ...
    taxel: Final[_U32]
    """Index of the taxel under the indenter, shape (n,)."""
    depth: Final[_F64]
    """Depth of the indenter (m), shape (n,); zero between presses."""
    force: Final[_F64]
    """Force of the indenter (N), shape (n,)."""
    rise: Final[_F64 | None]
    """Temperature above the reference (K), shape (n,); None if it was not measured."""
    rest: Final[_F64 | None]
    """Time without load before each reading (s), shape (n,); None if it was not recorded."""
    raw: Final[_U32]
    """Raw counts of all taxels, shape (n, taxels)."""
    creep: Final[_F64]
    """Time (s), force (N) and raw counts under constant load, shape (m, 3)."""
    def presses_csv(self) -> str:
        """The presses as CSV, in the format of ``dermis characterise``."""

    def creep_csv(self) -> str:
        """The creep recording as CSV."""

    def __len__(self) -> int: ...

def characterise_sensor(sensor: Sensor, protocol: str) -> Bench:
    """Measures a simulated sensor on a virtual bench. protocol: JSON object with the values that differ from the default."""
def fit_sensor(sensor: Sensor, bench: Bench, kernel: int, indenter: float) -> tuple[Sensor, str]:
    """Fits the response of a sensor to bench measurements. Returns the fitted sensor and the estimates as JSON."""
def fit_material(
    sensor: Sensor,
    obj: Object,
    depth: ArrayLike,
    force: ArrayLike,
    shear: ArrayLike | None,
    shear_force: ArrayLike | None,
    time: ArrayLike | None,
    unknowns: Sequence[str],
    at: tuple[float, float],
) -> tuple[Sensor, str]:
    """Fits the material of a sensor's skin to presses by an object. Returns the fitted sensor and the estimates as JSON."""
def compare_images(
    truth: ArrayLike, image: ArrayLike, mask: ArrayLike | None, window: Literal["uniform", "gaussian"]
) -> tuple[float, float, float, float, int]:
    """Returns SSIM, PSNR (dB), MAE and RMSE (levels, of 255), and the number of compared pixels."""
def estimate_placement(
    sensor: Sensor,
    obj: Object,
    image: ArrayLike | None,
    taxels: ArrayLike | None,
    magnetic: ArrayLike | None,
    rest: ArrayLike | None,
    known: Sequence[float],
    unknowns: Sequence[str],
) -> str:
    """Estimates unknowns from an image, from the forces on the taxels or from flux densities; `known` has x, y, depth, tilt_x, tilt_y,
    yaw, shear_x, shear_y and scale. Returns the estimate as JSON.
    """
def estimate_pose(
    sensor: Sensor,
    obj: Object,
    near: ArrayLike,
    image: ArrayLike | None,
    taxels: ArrayLike | None,
    magnetic: ArrayLike | None,
    rest: ArrayLike | None,
    fixed: list[str],
) -> tuple[_F64, str]:
    """Estimates the pose of an object near a given one, from a reading; the freedoms `fixed` stay. Returns the pose as a (4, 4) matrix and the
    estimate as JSON.
    """
def estimate_contact(sensor: Sensor, magnetic: ArrayLike, rest: ArrayLike | None) -> str:
    """The contact on magnets that move by a measured table, from flux densities (µT). Returns the estimate as JSON."""
def read_description(path: str | os.PathLike[str]) -> str:
    """The text of a description."""

def read_table(path: str | os.PathLike[str]) -> str:
    """The text of a table of numbers."""

def run_command(arguments: Sequence[str]) -> int:
    """Runs the command line ``arguments``, which start with the name of the program, and returns the exit code. Ctrl-C ends the
    process.
    """
def experiment_list() -> list[tuple[str, str, bool]]:
    """Name and title of every experiment, and whether it needs measurements that are not included in dermis."""
def run_experiment(name: str, full: bool, data: _Path | None, skin: _Skin | None, out: _Path | None) -> str:
    """Runs an experiment and returns its result as JSON. Figures and tables are written to the folder `out`, if given."""

class Dataset:
    """A data set to make: its description, with sensors and objects loaded. See `dermis.dataset`."""
    def __new__(cls, text: str, file: str, folder: _Path | None) -> Dataset: ...
    def about(self) -> str:
        """Name, counts and labels of the data set as JSON."""
    def make(self, out: _Path, threads: int | None, progress: Callable[[int, int], object] | None) -> None:
        """Makes the missing shards on `threads` threads (default: all cores) and calls `progress(made, wanted)`.
        Issues the warnings of the episodes, each kind once.
        """
    def make_shards(self, out: _Path, shards: list[int]) -> None:
        """Makes those of the given shards that are missing, on one core."""
    def missing(self, out: _Path) -> list[int]:
        """Indices of the shards that are missing in a folder."""
    def complete(self, out: _Path) -> None:
        """Completes a folder that has all shards, and issues the warnings of their episodes."""

def check_dataset(folder: _Path) -> int:
    """Compares every file of a finished data set with its hash; returns the number of files."""
def mujoco_layout() -> list[int]:
    """The layout of the loaded MuJoCo: the numbers of the fields in order."""

def mujoco_layouts() -> tuple[list[str], list[str]]:
    """The versions of MuJoCo whose structs dermis knows, and the fields of a layout in order."""

def forbid_global_threads() -> None:
    """Makes any use of threads that do not exist after a fork a panic. For tests."""

def has_coupled_skins(model: Any) -> bool:
    """True if a mujoco.MjModel, or the one of which it is a copy, has a sensor in mode "couple": its contact is then disabled where the
    skin computes it.
    """

def panic_in(place: str) -> None:
    """Panics in a place: `call`, `detached` or `interruptible`. For tests."""

def set_mujoco_layout(numbers: Sequence[int]) -> None:
    """Sets the layout of MuJoCo's structs: the numbers of the fields in order."""
