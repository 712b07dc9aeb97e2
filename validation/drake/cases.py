"""Further cases: other shapes, finer meshes, and few large triangles against many tetrahedra."""


def rigid(shape, p, rpy=(0, 0, 0), hint=None):
    return {"shape": shape, "compliance": "rigid", "resolution_hint": hint, "p": list(p), "rpy": list(rpy)}


def soft(shape, p, rpy=(0, 0, 0), hint=None, modulus=1e5):
    return rigid(shape, p, rpy, hint) | {"compliance": "compliant", "hydroelastic_modulus": modulus}


def sphere(radius):
    return {"type": "sphere", "radius": radius}


def box(*size):
    return {"type": "box", "size": list(size)}


def cylinder(radius, length):
    return {"type": "cylinder", "radius": radius, "length": length}


def ellipsoid(*semi_axes):
    return {"type": "ellipsoid", "semi_axes": list(semi_axes)}


def mesh(file):
    return {"type": "mesh", "file": file}


PAD = box(0.04, 0.04, 0.01)

FINE_BLOCK = {"cells": 32, "size": 0.04}
# A box, whose vertices' distance from the surface is known in closed form.
FINE = mesh("fine_block.vtk") | {"box_size": [0.04, 0.04, 0.04]}

MORE = [
    {"id": "rsph_cbox_fine", "A": rigid(sphere(0.01), (0, 0, 0.014), hint=6e-4), "B": soft(PAD, (0, 0, 0))},
    {"id": "csph_csph_fine", "A": soft(sphere(0.01), (0, 0, 0), hint=1e-3), "B": soft(sphere(0.008), (0.001, 0.002, 0.0165), hint=1e-3)},
    {"id": "cell_rbox", "A": soft(ellipsoid(0.012, 0.008, 0.006), (0, 0, 0.0105), (0.1, 0.2, 0.3), hint=2e-3), "B": rigid(PAD, (0, 0, 0))},
    {"id": "cell_cell", "A": soft(ellipsoid(0.012, 0.008, 0.006), (0, 0, 0), hint=2e-3), "B": soft(ellipsoid(0.006, 0.01, 0.008), (0.001, 0.002, 0.0125), (0.3, 0, 0.5), hint=2e-3, modulus=3e5)},
    {"id": "rell_cbox", "A": rigid(ellipsoid(0.012, 0.008, 0.006), (0, 0, 0.0102), (0.1, 0.2, 0.3), hint=1.5e-3), "B": soft(PAD, (0, 0, 0))},
    {"id": "ccyl_csph", "A": soft(cylinder(0.006, 0.03), (0, 0, 0), (1.2, 0, 0), hint=1.5e-3), "B": soft(sphere(0.008), (0.001, 0.0, 0.0127), hint=2e-3)},
    {"id": "ccyl_cbox_end", "A": soft(cylinder(0.006, 0.02), (0.003, 0, 0.0142), (0.15, 0.1, 0), hint=1.5e-3), "B": soft(PAD, (0, 0, 0))},
    {"id": "rcyl_cbox_end", "A": rigid(cylinder(0.006, 0.02), (0.003, 0, 0.0142), (0.15, 0.1, 0), hint=1e-3), "B": soft(PAD, (0, 0, 0))},
    {"id": "cbox_cbox_turned", "A": soft(box(0.01, 0.02, 0.01), (0.002, 0, 0.0095), (0.2, 0.3, 0.4)), "B": soft(PAD, (0, 0, 0))},
    {"id": "csph_block_vtk", "A": soft(sphere(0.01), (0.002, -0.003, 0.0192), hint=2e-3), "B": soft(mesh("block.vtk"), (0, 0, 0))},
    {"id": "rell_lshape_vtk", "A": rigid(ellipsoid(0.006, 0.004, 0.005), (0.0035, 0.001, 0.0038), (0.1, 0.2, 0.1), hint=1e-3), "B": soft(mesh("lshape.vtk"), (0, 0, 0))},
    {"id": "big_triangles_192000_tets", "A": rigid(box(0.02, 0.02, 0.02), (3e-4, 7e-4, 0.0265), (0.1, 0.05, 0.3)), "B": soft(FINE, (0, 0, 0))},
    {"id": "wedge_192000_tets", "A": rigid(mesh("wedge.obj"), (0.001, 0, 0.029), (0, 0, 0.35)), "B": soft(FINE, (0, 0, 0))},
    {"id": "rsph_192000_tets", "A": rigid(sphere(0.01), (0.002, -0.003, 0.0285), hint=1.5e-3), "B": soft(FINE, (0, 0, 0))},
    {"id": "csph_192000_tets", "A": soft(sphere(0.01), (0.002, -0.003, 0.0285), hint=2.5e-3), "B": soft(FINE, (0, 0, 0))},
]


def write_block(path, cells, size):
    """A cube in cells³ cells of six tetrahedra each, as legacy VTK."""
    n = cells + 1
    at = [(i / cells - 0.5) * size for i in range(n)]
    points = [f"{x} {y} {z}" for x in at for y in at for z in at]
    ring = [(4, 6), (6, 2), (2, 3), (3, 1), (1, 5), (5, 4)]
    tets = []
    for x in range(cells):
        for y in range(cells):
            for z in range(cells):
                corner = [((x + (k >> 2)) * n + y + ((k >> 1) & 1)) * n + z + (k & 1) for k in range(8)]
                tets += [(corner[0], corner[a], corner[b], corner[7]) for a, b in ring]
    tets = [f"4 {a} {b} {c} {d}" for a, b, c, d in tets]
    with open(path, "w") as file:
        file.write("# vtk DataFile Version 3.0\nblock\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        file.write(f"POINTS {len(points)} double\n" + "\n".join(points) + "\n")
        file.write(f"CELLS {len(tets)} {5 * len(tets)}\n" + "\n".join(tets) + "\n")
        file.write(f"CELL_TYPES {len(tets)}\n" + "10\n" * len(tets))
