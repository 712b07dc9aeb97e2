"""Every callback of the MuJoCo plugin once, for valgrind: `DERMIS_MUJOCO_PLUGIN=libdermis_mujoco.so valgrind python plugin.py`."""

import copy
import ctypes
import os
import pathlib

import mujoco

PLUGIN = os.environ["DERMIS_MUJOCO_PLUGIN"]
EXAMPLES = pathlib.Path(__file__).parents[2] / "bindings/mujoco/examples"

mujoco.mj_loadPluginLibrary(PLUGIN)
library = ctypes.CDLL(PLUGIN)


def main():
    text = (EXAMPLES / "weights.xml").read_text()
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(20):
        mujoco.mj_step(model, data)
    twin = copy.copy(data)
    mujoco.mj_step(model, twin)
    mujoco.mj_step(model, data)
    assert (twin.sensordata == data.sensordata).all() and data.sensordata.sum() > 0
    mujoco.mj_resetData(model, data)
    # A panic in each callback of a step, and while data are freed: no memory is lost or used twice.
    for entry in (7, 8, 9, 4):
        library.dermis_mujoco_panic_in(entry)
        mujoco.mj_step(model, twin)
        if entry == 4:
            del twin
    library.dermis_mujoco_panic_in(0)
    size, message = (ctypes.c_size_t * 2)(), ctypes.create_string_buffer(200)
    outcome = library.dermis_mujoco_image(ctypes.c_void_p(data._address), 0, size, None, message, 200)
    assert outcome == 1 and b"camera" in message.value, message.value
    print("the callbacks of the plugin ran")


main()
