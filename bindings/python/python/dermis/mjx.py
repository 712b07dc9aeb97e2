"""Tactile sensors in MJX: ``pip install mujoco-mjx``.

>>> import jax, mujoco
>>> from mujoco import mjx
>>> import dermis, dermis.mjx
>>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><site name="pad"/>
...   <body name="ball" pos="0 0 .0099"><freejoint/><geom name="ball" size=".01" mass=".05"/></body></worldbody></mujoco>''')
>>> m = mjx.put_model(model, impl="jax")
>>> touch = dermis.mjx.attach(model, dermis.Sensor.preset("uji-foam-14x6"), 2, site="pad", object="ball")
>>> @jax.jit
... @jax.vmap                                                 # over all worlds of the sensor
... def step(d, felt):
...     d, felt = touch(m, d, felt)                           # loads of the skin to xfrc_applied
...     return mjx.step(m, d), felt
>>> d = jax.vmap(lambda _: mjx.make_data(m))(jax.numpy.arange(2))
>>> felt = touch.start()
>>> for _ in range(3):
...     d, felt = step(d, felt)
>>> felt.taxels.shape                                         # N
(2, 84)

The sensor runs in a custom call of XLA's foreign function interface (``jax.experimental.buffer_callback``), which gives it the arrays of
XLA without a copy and, on a GPU, XLA's stream, on which it enqueues its kernels without waiting.

Functions of JAX have no side effects, and a skin has a history. It stays in the memory of the sensor; ``Felt.steps`` counts the steps of each world
since its reset and has to be carried along. A world whose number is 0 starts without contact, so that ``jnp.where(done, 0, felt.steps)`` resets
the worlds that are done. ``touch.check()`` raises ``dermis.Error`` if a state was used twice.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from dermis import _optional

_optional.require("dermis.mjx", "jax", "mujoco.mjx")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.buffer_callback import buffer_callback

import dermis
from dermis._bodies import Body, bind, check_mode
from dermis._mujoco_geoms import id_of, shape_of

__all__ = ["Felt", "Touch", "attach"]

# DLPack's number of the host.
_HOST = 1


class Felt(NamedTuple):
    """What a sensor feels in one world, or in all worlds with a first axis for them."""

    steps: jax.Array
    """Number of steps since the reset, int32; 0 starts without contact."""
    taxels: jax.Array
    """Force (N) along each taxel's normal, (taxels,)."""
    reported: jax.Array
    """Readings (N) after the response of the sensor, (taxels,); (0,) unless asked for."""
    wrench: jax.Array
    """Force (N) and torque (N m) on the sensor about its origin, in its frame, (6,)."""


class Touch:
    """A sensor in every world of an MJX simulation. Made by ``attach``. ``environments`` are the ``dermis.Environments``."""

    def __init__(
        self,
        environments: dermis.Environments,
        model: Any,
        site: int,
        geom: int,
        *,
        taxels: int,
        response: bool,
        is_coupled: bool,
        adds: bool,
    ) -> None:
        self.environments = environments
        self._model = model
        # Of the object and of the sensor.
        self._bodies = int(model.geom_bodyid[geom]), int(model.site_bodyid[site])
        self._offsets = (
            np.concatenate([model.geom_pos[geom], model.geom_quat[geom]]),
            np.concatenate([model.site_pos[site], model.site_quat[site]]),
        )
        self._taxels, self._reported = taxels, taxels if response else 0
        self._is_coupled, self._adds = is_coupled, adds
        self._felt = _refusing_gradients(self._in_one_world())

    def start(self, dtype: Any = "float32") -> Felt:
        """The state before the first step, for all worlds. dtype: that of the simulation."""
        count = len(self.environments)
        zeros = (jnp.zeros((count, numbers), dtype) for numbers in (self._taxels, self._reported, 6))
        return Felt(jnp.zeros(count, jnp.int32), *zeros)

    def __call__(self, m: Any, d: Any, felt: Felt) -> tuple[Any, Felt]:
        """Advances the sensor by a step in one world, to be called inside ``jax.vmap`` over all worlds, before ``mjx.step``.

        Computes positions and velocities of the bodies from ``d.qpos`` and ``d.qvel`` first. Returns ``d`` with the loads in ``xfrc_applied``, unless
        mode="sense", and what is felt.
        """
        from mujoco import mjx

        d = mjx.com_vel(m, mjx.com_pos(m, mjx.kinematics(m, d)))
        inputs = []
        for body in self._bodies:
            root = int(self._model.body_rootid[body])
            inputs += [d.xpos[body], d.xquat[body], d.cvel[body], d.subtree_com[root], d.xipos[body]]
        taxels, reported, wrench, *loads = self._felt(felt.steps, *inputs)
        if self._is_coupled:
            applied = d.xfrc_applied
            for body, load in zip(self._bodies, loads, strict=True):
                if body != 0:
                    applied = applied.at[body].add(load) if self._adds else applied.at[body].set(load)
            d = d.replace(xfrc_applied=applied)
        return d, Felt(felt.steps + 1, taxels, reported, wrench)

    def check(self) -> None:
        """Raises ``dermis.Error`` if a world had an invalid pose or velocity, or a state that was used twice, since its last reset. Waits for
        the GPU, not for computations that JAX has not dispatched: call ``jax.block_until_ready`` first."""
        self.environments.check()

    def _in_one_world(self) -> Any:
        """The function of one world that, inside ``jax.vmap``, is called once for all worlds."""
        count = len(self.environments)

        @jax.custom_batching.custom_vmap
        def of_all(*inputs: Any) -> Any:
            return self._call(inputs)

        @of_all.def_vmap
        def _(size: int, batched: Any, *inputs: Any) -> Any:
            raise dermis.Error("a sensor is called inside one jax.vmap, over all its worlds, and not in two")

        @jax.custom_batching.custom_vmap
        def of_one(*inputs: Any) -> Any:
            if count == 1:
                return tuple(output[0] for output in of_all(*(jnp.asarray(value)[None] for value in inputs)))
            # JAX traces this function before it asks for that of all worlds, so that the error has to wait until it is run.
            return buffer_callback(refuse, self._outputs(inputs, ()), has_side_effect=True)(*inputs)

        def refuse(*_: Any) -> None:
            raise dermis.Error(f"the sensor has {count} worlds: call it inside jax.vmap over all of them")

        @of_one.def_vmap
        def _(size: int, batched: Any, *inputs: Any) -> Any:
            if size != count:
                raise dermis.Error(f"the sensor has {count} worlds, and jax.vmap is over {size}")
            rows = [
                value if has_axis else jnp.broadcast_to(value, (size, *jnp.shape(value)))
                for value, has_axis in zip(inputs, batched, strict=True)
            ]
            outputs = of_all(*rows)
            return outputs, (True,) * len(outputs)

        return of_one

    def _call(self, inputs: Any) -> Any:
        shapes = self._outputs(inputs, (len(self.environments),))
        return buffer_callback(self._launch, shapes, has_side_effect=True)(*inputs)

    def _outputs(self, inputs: Any, axes: tuple[int, ...]) -> Any:
        """Shapes and type of what ``_launch`` writes."""
        struct: Any = jax.ShapeDtypeStruct
        return tuple(struct((*axes, numbers), inputs[1].dtype) for numbers in (self._taxels, self._reported, 6, 6, 6))

    def _launch(self, context: Any, outputs: Any, *inputs: Any) -> None:
        """Binds the arrays of XLA and enqueues the step on its stream."""
        on_cpu = self.environments.device == "cpu"
        if on_cpu != (inputs[0].__dlpack_device__()[0] == _HOST):
            raise dermis.Error(f"the sensor runs on {self.environments.device}, and the arrays are elsewhere: attach(device=...)")
        steps, *bodies = [np.asarray(array) if on_cpu else array for array in inputs]
        taxels, reported, wrench, *loads = [np.asarray(array) if on_cpu else array for array in outputs]
        model, made = self._model, []
        for place, (offset, load) in enumerate(zip(self._offsets, loads, strict=True)):
            position, rotation, twist, twist_at, center = bodies[5 * place : 5 * place + 5]
            made.append(Body((position, rotation), offset, twist, twist_at, load, center))
        # cvel is the velocity, angular part first, at the center of mass of the kinematic tree.
        bind(
            self.environments,
            float(model.opt.timestep),
            made[:1],
            made[1],
            twist_order="angular",
            taxels=taxels,
            reported=reported if self._reported else None,
            wrench=wrench,
        )
        self.environments.launch(None if on_cpu else int(context.stream), steps=steps)


def _refusing_gradients(function: Any) -> Any:
    """The function with an error for derivatives, which the memory of a skin does not have."""
    made = jax.custom_jvp(function)

    @made.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise dermis.Error("a sensor in time has no gradients; presses have: dermis.jax.press")

    return made


def attach(
    model: Any,
    sensor: dermis.Sensor,
    count: int,
    *,
    site: str,
    object: str,
    shape: dermis.Object | None = None,
    mode: Literal["couple", "sense"] = "couple",
    add: bool = False,
    device: Literal["cpu", "cuda", "cuda:0", "auto"] = "auto",
    response: bool = False,
    randomise: dict[str, tuple[float, float]] | None = None,
    seed: int = 0,
    precision: Literal["double", "single"] | None = None,
) -> Touch:
    """Attaches a sensor to a site in ``count`` worlds of an MJX simulation.

    model: the ``mujoco.MjModel`` of the simulation. site: the sensor's frame, +z out of the skin. object: name of the geom that touches
    the sensor. shape: the geom's shape in its frame; default: that of a sphere, box, cylinder, capsule or ellipsoid.

    mode="couple" writes the loads on both bodies to ``xfrc_applied``, at their centers of mass; with add=True it adds them, for a second sensor on
    a body. The model must exclude MuJoCo's contact between the two bodies. mode="sense" changes nothing but computes the reading.

    device: "cuda" or "cpu", that of JAX's arrays; "auto": that of JAX's default. response=True also computes the readings after the response of the sensor. randomise, seed, precision:
    as for ``Sensor.environments``; a world draws its parameters when it starts.
    """
    check_mode(mode)
    at, geom = id_of(model, "site", site), id_of(model, "object", object)
    carrier, body = int(model.site_bodyid[at]), int(model.geom_bodyid[geom])
    if carrier == body:
        raise dermis.Error(f"site {site!r} and geom {object!r} are on the same body")
    if mode == "couple" and _touch(model, geom, carrier):
        names = [model.body(index).name for index in (carrier, body)]
        raise dermis.Error(
            f'mode="couple" replaces the contact of MuJoCo: put <contact><exclude body1="{names[0]}" body2="{names[1]}"/></contact> in the model'
        )
    if device == "auto":
        device = "cuda" if jax.default_backend() == "gpu" else "cpu"
    environments = sensor.environments(
        shape or shape_of(model, geom), count, device=device, randomise=randomise, seed=seed, precision=precision
    )
    taxels, is_coupled = int(np.prod(sensor.shape)), mode == "couple"
    return Touch(environments, model, at, geom, taxels=taxels, response=response, is_coupled=is_coupled, adds=add)


def _touch(model: Any, geom: int, carrier: int) -> bool:
    """True if MuJoCo computes contact of a geom with a geom of a body."""
    body = int(model.geom_bodyid[geom])
    others = set(np.flatnonzero(model.geom_bodyid == carrier).tolist())
    if any({int(one), int(two)} & others and geom in (one, two) for one, two in zip(model.pair_geom1, model.pair_geom2, strict=True)):
        return True
    if (min(body, carrier) << 16) + max(body, carrier) in model.exclude_signature:
        return False
    kinds, affinities = model.geom_contype, model.geom_conaffinity
    return any((kinds[geom] & affinities[other]) | (kinds[other] & affinities[geom]) for other in others)
