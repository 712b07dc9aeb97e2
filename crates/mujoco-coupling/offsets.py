#!/usr/bin/env python3
"""Writes src/layout/table.rs: offsets of the fields that dermis reads, for every supported version of MuJoCo.

    python3 offsets.py [--wheels FOLDER]

Fetches the wheels of all versions with pip (or takes them from FOLDER/VERSION/*.whl) and compiles a C program that prints the offsets
against the headers in each. To support a new version, add it to VERSIONS and run the script.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

VERSIONS = """
3.3.0 3.3.1 3.3.2 3.3.3 3.3.4 3.3.5 3.3.6 3.3.7 3.4.0 3.5.0 3.6.0 3.7.0 3.8.0 3.8.1 3.9.0 3.10.0 3.11.0 3.12.0
3.13.0 3.14.0 3.15.0 3.16.0 3.17.0 4.0.0
""".split()

# Element type, and fields of mjModel and mjData with that type.
MODEL_COUNTS = "nv nbody ngeom npair nexclude nsensor nplugin".split()
MODEL_POINTERS = {
    "int": """body_treeid body_parentid body_weldid body_mocapid body_jntnum body_jntadr body_geomnum body_geomadr jnt_type geom_type
        geom_contype geom_conaffinity geom_priority geom_bodyid geom_dataid site_bodyid mesh_vertadr mesh_vertnum mesh_faceadr
        mesh_facenum mesh_face hfield_nrow hfield_ncol hfield_adr pair_geom1 pair_geom2 exclude_signature
        sensor_objtype sensor_objid sensor_dim sensor_adr sensor_plugin plugin plugin_stateadr""".split(),
    "double": """body_pos body_quat body_ipos body_iquat body_mass body_inertia body_invweight0 dof_damping geom_size geom_rbound geom_pos geom_quat geom_friction
        site_pos site_quat hfield_size""".split(),
    "float": "mesh_vert hfield_data".split(),
}
DATA_POINTERS = {
    "double": """plugin_state sensordata qfrc_passive qfrc_applied qfrc_actuator qfrc_constraint xfrc_applied qacc xpos xquat xipos geom_xpos
        geom_xmat site_xpos site_xmat efc_R""".split(),
    "uintptr_t": ["plugin_data"],
    "mjContact": ["contact"],
}
DATA_COUNTS = "ne nefc ncon".split()
# Arrays of int of mjData that older versions lack; their offset there is 0.
DATA_LATER = ["body_awake", "tree_asleep"]
# Element type, number of elements and fields of mjContact.
CONTACT_FIELDS = {"pos": ("double", 3), "frame": ("double", 9), "geom": ("int", 2)}
# Bits of mjOption.disableflags, which differ between versions.
FLAGS = {"disable_contact": "mjDSBL_CONTACT", "disable_filterparent": "mjDSBL_FILTERPARENT", "disable_eulerdamp": "mjDSBL_EULERDAMP"}
# Must be the same in every version.
CONSTANTS = """mjOBJ_BODY mjOBJ_XBODY mjOBJ_GEOM mjOBJ_SITE mjOBJ_SENSOR mjGEOM_PLANE mjGEOM_HFIELD mjGEOM_SPHERE
mjGEOM_CAPSULE mjGEOM_ELLIPSOID mjGEOM_CYLINDER mjGEOM_BOX mjGEOM_MESH mjGEOM_SDF mjJNT_FREE mjINT_EULER mjINT_RK4 mjSTAGE_ACC
mjPLUGIN_SENSOR mjPLUGIN_PASSIVE""".split()
PLUGIN_FIELDS = """name nattribute attributes capabilityflags needstage nstate nsensordata init destroy copy reset compute
advance""".split()


def program(headers):
    """A C program that prints `key value` lines and asserts the expected types. `headers` is their text."""
    lines = [
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#include <stdio.h>",
        "#include <mujoco/mujoco.h>",
        "#define POINTS(T, S, F) _Static_assert(_Generic(((S*)0)->F, T*: 1, default: 0), #F)",
        "#define AT(S, F) printf(#F \" %zu\\n\", offsetof(S, F))",
        "int main(void) {",
        "_Static_assert(sizeof(mjtNum) == 8, \"mjtNum\");",
        "printf(\"count_bytes %zu\\n\", sizeof(((mjModel*)0)->ngeom));",
        "printf(\"timestep %zu\\n\", offsetof(mjModel, opt) + offsetof(mjOption, timestep));",
        "printf(\"integrator %zu\\n\", offsetof(mjModel, opt) + offsetof(mjOption, integrator));",
        "printf(\"disableflags %zu\\n\", offsetof(mjModel, opt) + offsetof(mjOption, disableflags));",
    ]
    lines.append("_Static_assert(sizeof(((mjData*)0)->time) == 8, \"time\"); AT(mjData, time);")
    for name in DATA_COUNTS:
        lines.append(f"_Static_assert(sizeof(((mjData*)0)->{name}) == 4, \"{name}\"); AT(mjData, {name});")
    for name, constant in FLAGS.items():
        lines.append(f"printf(\"{name} %d\\n\", (int){constant});")
    for name in MODEL_COUNTS:
        lines.append(f"_Static_assert(sizeof(((mjModel*)0)->{name}) == sizeof(((mjModel*)0)->ngeom), \"{name}\");")
        lines.append(f"AT(mjModel, {name});")
    for struct, pointers in [("mjModel", MODEL_POINTERS), ("mjData", DATA_POINTERS)]:
        for kind, names in pointers.items():
            for name in names:
                lines.append(f"POINTS({kind}, {struct}, {name}); AT({struct}, {name});")
    for name in DATA_LATER:
        if re.search(rf"\b{name};", headers):
            lines.append(f"POINTS(int, mjData, {name}); AT(mjData, {name});")
        else:
            lines.append(f"printf(\"{name} 0\\n\");")
    lines.append("printf(\"contact_bytes %zu\\n\", sizeof(mjContact));")
    for name, (kind, count) in CONTACT_FIELDS.items():
        lines.append(f"_Static_assert(sizeof(((mjContact*)0)->{name}) == {count} * sizeof({kind}), \"{name}\");")
        lines.append(f"printf(\"contact_{name} %zu\\n\", offsetof(mjContact, {name}));")
    for name in CONSTANTS:
        lines.append(f"printf(\"{name} %d\\n\", (int){name});")
    lines.append("printf(\"sizeof_mjpPlugin %zu\\n\", sizeof(mjpPlugin));")
    for name in PLUGIN_FIELDS:
        lines.append(f"printf(\"mjpPlugin.{name} %zu\\n\", offsetof(mjpPlugin, {name}));")
    return "\n".join(lines + ["return 0; }"])


def wheel_of(version, wheels, scratch):
    """The wheel with the headers; from 4.0 on these are in a separate package."""
    package = "mujoco" if version.startswith("3.") else "mujoco-core"
    pattern = package.replace("-", "_") + "-*.whl"
    folder = (wheels or scratch) / version
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "-d", str(folder), f"{package}=={version}"], check=True)
    return next(folder.glob(pattern))


def measure(version, wheels, scratch):
    """Output of the program for one version, as a dictionary."""
    folder = scratch / f"headers-{version}"
    with zipfile.ZipFile(wheel_of(version, wheels, scratch)) as wheel:
        wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith("mujoco/include/")])
    source, binary = folder / "offsets.c", folder / "offsets"
    include = folder / "mujoco" / "include"
    source.write_text(program((include / "mujoco" / "mjdata.h").read_text()))
    subprocess.run(["cc", "-std=c11", "-w", f"-I{include}", "-o", str(binary), str(source)], check=True)
    printed = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    return {key: int(value) for key, value in (line.split() for line in printed.splitlines())}


def constant_name(name):
    """mjOBJ_BODY as OBJ_BODY."""
    return name.removeprefix("mj")


def table(measured):
    """The Rust source."""
    fixed = [*CONSTANTS, "sizeof_mjpPlugin", *(f"mjpPlugin.{name}" for name in PLUGIN_FIELDS)]
    first = next(iter(measured.values()))
    for version, values in measured.items():
        for key in fixed:
            if values[key] != first[key]:
                sys.exit(f"{key} is {values[key]} in {version} and {first[key]} before: the plugin must be adapted")
    out = [
        "//! Field offsets of MuJoCo's structs. Written by `offsets.py`; do not edit.",
        "",
        f"/// Size of mjpPlugin (bytes).\npub const PLUGIN_BYTES: usize = {first['sizeof_mjpPlugin']};",
        "",
        "/// Offsets of the fields of mjpPlugin.",
        f"pub const PLUGIN_OFFSETS: [usize; {len(PLUGIN_FIELDS)}] = "
        f"[{', '.join(str(first[f'mjpPlugin.{name}']) for name in PLUGIN_FIELDS)}];",
        "",
    ]
    for name in CONSTANTS:
        out.append(f"pub const {constant_name(name)}: i32 = {first[name]};")
    keys = [key for key in first if key not in fixed]
    width = max(len(key) for key in keys) + 1
    out += ["", "layout! {", f"    {'':{width}} {' '.join(f'{chr(34) + version + chr(34):>8}' for version in measured)};"]
    for key in keys:
        out.append(f"    {key + ':':{width}} {' '.join(f'{values[key]:>8}' for values in measured.values())};")
    return "\n".join(out + ["}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=pathlib.Path, help="folder with VERSION/*.whl; fetched when not there")
    wheels = parser.parse_args().wheels
    target = pathlib.Path(__file__).parent / "src" / "layout" / "table.rs"
    with tempfile.TemporaryDirectory() as scratch:
        measured = {version: measure(version, wheels, pathlib.Path(scratch)) for version in VERSIONS}
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(table(measured))
    subprocess.run(["rustfmt", "--edition", "2024", "--config", "max_width=120", str(target)], check=True)
    print(f"{target}: {len(measured)} versions")


if __name__ == "__main__":
    main()
