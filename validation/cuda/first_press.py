"""Measures the first press on a layer in a new process: with an empty kernel cache, then with the cache that this fills.

    python3 first_press.py            # both, each in a process of its own
    python3 first_press.py --once     # one press in this process
"""

import os
import subprocess
import sys
import tempfile
import time


def once():
    start = time.perf_counter()
    # dermis imports numpy on first use, which takes 0.2 s and has nothing to do with the GPU.
    import numpy  # noqa: F401

    import dermis

    sensor = dermis.Sensor.preset("gelsight")
    ball = dermis.Object.sphere(radius=4e-3, edge=1e-4)
    built = time.perf_counter()
    image = sensor.press_batch(ball, [(0, 0, 3.5e-3)] * 4, device="cuda").image
    first = time.perf_counter()
    assert image.std() > 0
    sensor.press_batch(ball, [(0, 0, 3.5e-3)] * 4, device="cuda")
    second = time.perf_counter()
    print(f"imports and sensor {built - start:.2f} s, first press {first - built:.2f} s, second press {second - first:.3f} s")


def main():
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "DERMIS_CACHE_DIR": cache}
        for name in ("empty cache", "warm cache", "warm cache"):
            print(f"{name}: ", end="", flush=True)
            subprocess.run([sys.executable, __file__, "--once"], env=environment, check=True)
        for file in os.scandir(cache):
            os.truncate(file.path, 100)
        print("truncated cache: ", end="", flush=True)
        subprocess.run([sys.executable, __file__, "--once"], env=environment, check=True)


if __name__ == "__main__":
    once() if "--once" in sys.argv else main()
