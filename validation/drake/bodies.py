"""Bodies created by Drake, and their export in the format of the golden files.

A case is {"id", "A", "B"}; a body has a `shape`, a `compliance`, and a pose (`p`, `rpy`) in the world.
"""

import json
from pathlib import Path

import numpy as np
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddCompliantHydroelasticPropertiesForHalfSpace,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    GeometryFrame,
    GeometryInstance,
    HalfSpace,
    HydroelasticContactRepresentation,
    FramePoseVector,
    Mesh,
    ProximityProperties,
    SceneGraph,
    Sphere,
)
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix


def shape_of(spec, folder):
    kind = spec["type"]
    if kind == "box":
        return Box(*spec["size"])
    if kind == "sphere":
        return Sphere(spec["radius"])
    if kind == "ellipsoid":
        return Ellipsoid(*spec["semi_axes"])
    if kind == "cylinder":
        return Cylinder(spec["radius"], spec["length"])
    if kind == "capsule":
        return Capsule(spec["radius"], spec["length"])
    if kind == "half_space":
        return HalfSpace()
    return Mesh(str(folder / spec["file"]))


def pose_of(body):
    return RigidTransform(RollPitchYaw(body["rpy"]), body["p"])


def properties_of(body):
    properties = ProximityProperties()
    hint = body.get("resolution_hint") or 1.0
    if body["compliance"] == "rigid":
        AddRigidHydroelasticProperties(hint, properties)
    elif body["shape"]["type"] == "half_space":
        AddCompliantHydroelasticPropertiesForHalfSpace(
            body["slab_thickness"], body["hydroelastic_modulus"], properties
        )
    else:
        AddCompliantHydroelasticProperties(hint, body["hydroelastic_modulus"], properties)
    return properties


class Pair:
    """Two bodies in Drake: A is fixed in the world, B is fixed to a moving frame."""

    def __init__(self, case, folder):
        self.graph = SceneGraph()
        self.source = self.graph.RegisterSource("pair")
        self.frame = self.graph.RegisterFrame(self.source, GeometryFrame("b"))
        self.a = self._add(case["A"], folder, self.graph.world_frame_id())
        self.b = self._add(case["B"], folder, self.frame)
        self.context = self.graph.CreateDefaultContext()
        self.poses_in = self.graph.get_source_pose_port(self.source)
        self.query_out = self.graph.get_query_output_port()

    def _add(self, body, folder, frame):
        instance = GeometryInstance(pose_of(body), shape_of(body["shape"], folder), body["compliance"] + str(frame))
        instance.set_proximity_properties(properties_of(body))
        return self.graph.RegisterGeometry(self.source, frame, instance)

    def surfaces(self, world_from_frame):
        """One call without cached results: sets the pose and computes the contact."""
        poses = FramePoseVector()
        poses.set_value(self.frame, world_from_frame)
        self.poses_in.FixValue(self.context, poses)
        query = self.query_out.Eval(self.context)
        return query.ComputeContactSurfaces(HydroelasticContactRepresentation.kPolygon)

    def mesh(self, geometry):
        """Drake's own mesh: vertices, elements; None for a half-space."""
        found = self.graph.model_inspector().maybe_get_hydroelastic_mesh(geometry)
        if found is None:
            return None
        vertices = np.array([found.vertex(i) for i in range(found.num_vertices())]).reshape(-1, 3)
        tets = hasattr(found, "tetrahedra")
        corners = 4 if tets else 3
        elements = [[found.element(i).vertex(k) for k in range(corners)] for i in range(found.num_elements())]
        return vertices, np.array(elements)


def nudge(i):
    """The pose of B's frame at call i, the same in both programs."""
    step = (i % 97) * 1e-6
    return RigidTransform(RotationMatrix.MakeXRotation(step), [step, 0.0, 0.0])


def extents(shape, vertices, tets):
    """Extent e at the vertices of Drake's tetrahedra: 0 on the surface, 1 at the deepest point."""
    kind = shape["type"]
    x = vertices
    if kind == "sphere":
        e = 1 - np.linalg.norm(x, axis=1) / shape["radius"]
    elif kind == "ellipsoid":
        e = 1 - np.linalg.norm(x / np.array(shape["semi_axes"]), axis=1)
    elif kind == "box" or "box_size" in shape:
        half = np.array(shape.get("box_size", shape.get("size"))) / 2
        e = (half - np.abs(x)).min(axis=1) / half.min()
    elif kind == "cylinder":
        r, half = shape["radius"], shape["length"] / 2
        inside = np.minimum(r - np.linalg.norm(x[:, :2], axis=1), half - np.abs(x[:, 2]))
        e = inside / min(r, half)
    elif kind == "capsule":
        r, half = shape["radius"], shape["length"] / 2
        axis = np.zeros_like(x)
        axis[:, 2] = np.clip(x[:, 2], -half, half)
        e = 1 - np.linalg.norm(x - axis, axis=1) / r
    elif shape["file"].endswith(".obj"):
        # A convex mesh has one vertex inside.
        e = np.zeros(len(x))
        e[~on_boundary(tets, len(x))] = 1.0
    else:
        e = distances(x, tets)
        e = e / e.max()
    e = np.where(np.abs(e) < 1e-12, 0.0, e)
    e[on_boundary(tets, len(x))] = 0.0
    return e


def boundary(tets):
    faces = np.concatenate([tets[:, [1, 2, 3]], tets[:, [0, 3, 2]], tets[:, [0, 1, 3]], tets[:, [0, 2, 1]]])
    _, first, times = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[times == 1]]


def on_boundary(tets, count):
    on = np.zeros(count, dtype=bool)
    on[np.unique(boundary(tets))] = True
    return on


def distances(x, tets):
    """Distance of every vertex from the boundary."""
    faces = boundary(tets)
    a, b, c = (x[faces[:, k]] for k in range(3))
    inside = np.nonzero(~on_boundary(tets, len(x)))[0]
    result = np.zeros(len(x))
    for v in inside:
        result[v] = point_to_triangles(x[v], a, b, c).min()
    return result


def point_to_triangles(p, a, b, c):
    """Distances of a point from triangles: to the plane where the foot lies inside, else to the nearest edge."""

    def to_segment(u, v):
        t = np.clip(((p - u) * (v - u)).sum(1) / ((v - u) ** 2).sum(1), 0, 1)
        return np.linalg.norm(u + t[:, None] * (v - u) - p, axis=1)

    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    height = ((p - a) * n).sum(1)
    foot = p - height[:, None] * n
    inside = np.ones(len(a), dtype=bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(v - u, foot - u) * n).sum(1) >= -1e-15
    edges = np.minimum(np.minimum(to_segment(a, b), to_segment(b, c)), to_segment(c, a))
    return np.where(inside, np.abs(height), edges)


def write_case(case, folder, pair):
    """The case with Drake's meshes and results, its meshes written beside it."""
    written = {"id": case["id"]}
    for name, geometry in (("A", pair.a), ("B", pair.b)):
        body = dict(case[name])
        body["X_W"] = pose_of(body).GetAsMatrix4().tolist()
        mesh = pair.mesh(geometry)
        body["drake_mesh"] = None
        if mesh is not None:
            vertices, elements = mesh
            content = {"vertices": vertices.tolist(), "elements": elements.tolist()}
            if elements.shape[1] == 4:
                e = extents(body["shape"], vertices, elements)
                content["vertex_pressure_Pa"] = (e * body["hydroelastic_modulus"]).tolist()
            file = f"{case['id']}_{name}.json"
            (folder / file).write_text(json.dumps(content))
            body["drake_mesh"] = {"file": file, "num_elements": len(elements)}
        written[name] = body
    found = pair.surfaces(RigidTransform())
    written["polygon"] = integrals(found[0], pair) if found else None
    return written


def integrals(surface, pair):
    """Area, centroids, force and torque on A, exact for the piecewise linear pressure."""
    mesh, field = surface.poly_mesh_W(), surface.poly_e_MN()
    vertices = np.array([mesh.vertex(i) for i in range(mesh.num_vertices())])
    pressures = np.array([field.EvaluateAtVertex(v=i) for i in range(mesh.num_vertices())])
    data, at, face = mesh.face_data(), 0, 0
    # Normals point out of N into M.
    sign = 1.0 if surface.id_M() == pair.a else -1.0
    area, moment, total, weighted = 0.0, np.zeros(3), 0.0, np.zeros(3)
    force, torque = np.zeros(3), np.zeros(3)
    while at < len(data):
        corners = data[at + 1 : at + 1 + data[at]]
        normal = sign * np.array(mesh.face_normal(face))
        for k in range(2, len(corners)):
            three = [corners[0], corners[k - 1], corners[k]]
            x, p = vertices[three], pressures[three]
            part = 0.5 * np.linalg.norm(np.cross(x[1] - x[0], x[2] - x[0]))
            area += part
            moment += part * x.mean(axis=0)
            for i, j in ((0, 1), (1, 2), (2, 0)):
                load, middle = (p[i] + p[j]) * part / 6, (x[i] + x[j]) / 2
                total += load
                weighted += load * middle
                force += load * normal
                torque += np.cross(middle, load * normal)
        at += 1 + data[at]
        face += 1
    return {
        "num_faces": face,
        "total_area": area,
        "area_centroid_W": (moment / area).tolist(),
        "pressure_integral": total,
        "pressure_centroid_W": (weighted / total).tolist(),
        "force_on_A_W": force.tolist(),
        "torque_on_A_about_world_origin_W": torque.tolist(),
    }


def read_golden(path):
    golden = json.loads(Path(path).read_text())
    return [{key: case[key] for key in ("id", "A", "B")} for case in golden["cases"]]
