#!/usr/bin/env python3
"""Measures the cost of a step with a dermis sensor: against MuJoCo's own `tactile` and against MuJoCo's own contact.

    python3 bench.py libdermis_mujoco.so

A sphere and a mesh of some 2,000 triangles are held at a depth that loads about a tenth of the taxels. The variants are measured in
alternation in one process; the best round counts, in CPU time of the thread. MuJoCo's sensor needs MuJoCo's contact and a distance
field of the mesh; dermis runs in both modes (couple: instead of that contact; sense: in addition to it).

A gripper holds a cube between two pads of 8 × 8 taxels, all of which touch it, while the force of the fingers varies. Coupled skins
(engine plugin and, if the dermis package is installed, `dermis.mujoco.attach`) are measured against the same grasp with MuJoCo's contact.
"""

import sys
import time

import mujoco
import numpy as np

SIDE, PITCH, RADIUS, DEPTH = 40, 1e-3, 0.012, 0.0021
STEPS, ROUNDS = 200, 15


def ball_mesh(radius, count=32):
    """Vertices and faces of a sphere in `count` slices and as many stacks."""
    angles = np.arange(count) * 2 * np.pi / count
    rings = [
        [(radius * np.sin(t) * np.cos(a), radius * np.sin(t) * np.sin(a), radius * np.cos(t)) for a in angles]
        for t in np.arange(1, count) * np.pi / count
    ]
    vertices = [(0, 0, radius), *[v for ring in rings for v in ring], (0, 0, -radius)]
    last = len(vertices) - 1
    faces = []
    for j in range(count):
        k = (j + 1) % count
        faces += [(0, 1 + j, 1 + k), (last, last - count + k, last - count + j)]
        for i in range(count - 2):
            a, b = 1 + i * count + j, 1 + i * count + k
            faces += [(a, a + count, b), (b, a + count, b + count)]
    return vertices, faces


def taxel_mesh():
    """The taxel centers as a flat mesh, as `tactile` takes them."""
    centers = (np.arange(SIDE) + 0.5 - SIDE / 2) * PITCH
    vertices = [(x, y, 0.0) for y in centers for x in centers]
    faces = []
    for row in range(SIDE - 1):
        for col in range(SIDE - 1):
            a = row * SIDE + col
            faces += [(a, a + 1, a + SIDE), (a + 1, a + SIDE + 1, a + SIDE)]
    return vertices, faces


def flat(rows):
    return " ".join(f"{x:.9g}" for row in rows for x in row)


SKIN = """name = 'pad'; contact_points = 1; surface.grid = { rows = 40, cols = 40, pitch = '1 mm' };
  skin = { kind = 'springs', stiffness = '20 N/m', damping = '0.05 N s/m', max_penetration = '4 mm',
           friction = { kind = 'lugre', sigma0 = '50 N/m', sigma1 = '0.05 N s/m', viscous = '0.01 N s/m',
                        mu_static = 0.5, mu_dynamic = 0.4, stribeck_speed = '0.1 m/s' } }"""

SENSORS = {
    "plain": "",
    "tactile": '<tactile geom="pad" mesh="taxels"/>',
    "couple": f"""<plugin plugin="dermis.sensor" objtype="site" objname="pad"><config key="parameters" value="{SKIN}"/>
        <config key="mode" value="couple"/><config key="output" value="force"/></plugin>""",
    "sense": f"""<plugin plugin="dermis.sensor" objtype="site" objname="pad"><config key="parameters" value="{SKIN}"/>
        <config key="mode" value="sense"/><config key="output" value="force"/></plugin>""",
}
OBJECTS = {"ball": f'type="sphere" size="{RADIUS}"', "mesh": 'type="mesh" mesh="ball"'}


def model(shape, sensor):
    text = f"""<mujoco><extension><plugin plugin="dermis.sensor"/></extension><option timestep="1e-3" gravity="0 0 0"/>
      <asset><mesh name="taxels" vertex="{flat(taxel_mesh()[0])}" face="{flat(taxel_mesh()[1])}" inertia="shell"/>
      <mesh name="ball" vertex="{flat(ball_mesh(RADIUS)[0])}" face="{flat(ball_mesh(RADIUS)[1])}"/></asset>
      <worldbody><body name="pad"><site name="pad"/><geom name="pad" type="box" size=".02 .02 .004" pos="0 0 -.004"
      {'contype="0" conaffinity="0"' if sensor == "couple" else ""}/></body>
      <body name="ball" pos="0 0 {RADIUS - DEPTH}"><freejoint/><geom name="ball" {OBJECTS[shape]} mass="1"/></body></worldbody>
      <sensor>{SENSORS[sensor]}</sensor></mujoco>"""
    spec = mujoco.MjSpec.from_string(text)
    for mesh in spec.meshes:
        mesh.needsdf = mesh.name == "ball" and sensor == "tactile"
    return spec.compile()


PAD = """name = 'pad'; contact_points = POINTS; surface.grid = { rows = 8, cols = 8, pitch = '2.5 mm' }; skin = { kind = 'springs', stiffness = '1000 N/m',
  damping = '1 N s/m', max_penetration = '4 mm', friction = { kind = 'lugre', sigma0 = '1000 N/m', sigma1 = '4 N s/m',
  viscous = '0.01 N s/m', mu_static = 0.6, mu_dynamic = 0.5, stribeck_speed = '0.1 m/s' } }"""
GRASPS = ("native", "plugin implicit", "plugin explicit", "attach implicit", "attach explicit")


def grasp(variant, points=1):
    """A cube of 20 mm and 0.1 kg between two fingers."""
    how, coupling = [*variant.split(), ""][:2]
    fingers = sensors = ""
    skin = PAD.replace("POINTS", str(points))
    for name, side in (("left", -1), ("right", 1)):
        off = "" if how == "native" else 'contype="0" conaffinity="0"'
        fingers += f"""<body name="{name}" pos="{side * 0.0099} 0 0"><joint name="{name}" type="slide" axis="{-side} 0 0" damping="5"/>
          <geom type="box" size=".005 .01 .01" pos="{side * 0.005} 0 0" mass=".1" {off}/><site name="{name}" zaxis="{-side} 0 0"/></body>"""
        if how == "plugin":
            sensors += f"""<plugin plugin="dermis.sensor" objtype="site" objname="{name}"><config key="parameters" value="{skin}"/>
              <config key="mode" value="couple"/><config key="coupling" value="{coupling}"/><config key="output" value="force"/></plugin>"""
    text = f"""<mujoco><extension><plugin plugin="dermis.sensor"/></extension><option timestep="2e-4"/><worldbody>{fingers}
      <body name="cube"><freejoint/><geom name="cube" type="box" size=".01 .01 .01" mass=".1"/></body></worldbody>
      <actuator><motor joint="left"/><motor joint="right"/></actuator><sensor>{sensors}</sensor></mujoco>"""
    made = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(made)
    pads = []
    if how == "attach":
        import dermis.mujoco

        lines = skin.replace("\n", " ").replace("; ", "\n")
        pads = [
            dermis.mujoco.attach(made, data, dermis.Sensor.parse(lines), site=name, objects="cube", mode="couple", coupling=coupling)
            for name in ("left", "right")
        ]
    return made, data, pads


def grasps(points):
    try:
        import dermis.mujoco  # noqa: F401

        variants = GRASPS
    except ImportError:
        variants = GRASPS[:3]
    made = {variant: grasp(variant, points) for variant in variants}
    best = dict.fromkeys(variants, np.inf)
    force = 5 + 0.5 * np.sin(np.arange(STEPS) * 2 * np.pi / STEPS)
    for _ in range(2 * ROUNDS):
        for variant, (model, data, _) in made.items():
            began = time.thread_time()
            for step in range(STEPS):
                data.ctrl[:] = force[step]
                mujoco.mj_step(model, data)
            best[variant] = min(best[variant], (time.thread_time() - began) / STEPS)
    for variant, (_, data, _) in made.items():
        assert abs(data.qpos[4]) < 5e-3, f"{variant}: the cube slipped"
    over = ", ".join(f"{variant} {(best[variant] - best['native']) * 1e6:+.1f}" for variant in variants[1:])
    print(f"gripper with two pads of 8 x 8, {points} x {points} contact points per taxel: native contact {best['native'] * 1e6:.1f}; {over}")


def main():
    mujoco.mj_loadPluginLibrary(sys.argv[1])
    print(f"MuJoCo {mujoco.__version__}, {len(ball_mesh(RADIUS)[1])} triangles, microseconds per step over plain:")
    for shape in OBJECTS:
        pairs = {}
        for sensor in SENSORS:
            made = model(shape, sensor)
            pairs[sensor] = (made, mujoco.MjData(made))
        best = dict.fromkeys(SENSORS, np.inf)
        for _ in range(ROUNDS):
            for sensor, (made, data) in pairs.items():
                start, velocity = made.qpos0, np.array([1e-3, 0, 0, 0, 0, 0])
                began = time.thread_time()
                for _ in range(STEPS):
                    data.qpos = start
                    data.qvel = velocity
                    mujoco.mj_step(made, data)
                best[sensor] = min(best[sensor], (time.thread_time() - began) / STEPS)
        active = {s: int((np.abs(d.sensordata.reshape(3, -1)) > 0).any(axis=0).sum()) for s, (_, d) in pairs.items() if s != "plain"}
        over = {s: (best[s] - best["plain"]) * 1e6 for s in SENSORS}
        print(
            f"{shape}: plain {best['plain'] * 1e6:.1f}; tactile +{over['tactile']:.1f} ({active['tactile']} active); dermis couple "
            f"{over['couple']:+.1f} ({active['couple']} active), sense {over['sense']:+.1f}; couple/tactile {over['couple'] / over['tactile']:.2f}, "
            f"sense/tactile {over['sense'] / over['tactile']:.2f}"
        )
    # Springs have 3 x 3 contact points on taxels of 2.5 mm by default; `tactile` has one per taxel.
    grasps(1)
    grasps(3)


if __name__ == "__main__":
    main()
