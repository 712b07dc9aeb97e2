"""A sensor for tests of adapters: a plate of springs, without friction and with it."""

PLATE = """
name = "plate"
contact_points = 1
[surface.grid]
rows = 10
cols = 10
pitch = "4 mm"
[skin]
kind = "springs"
stiffness = "1600 N/m"
damping = "8 N s/m"
max_penetration = "6 mm"
"""
ROUGH_PLATE = f"""{PLATE}
[skin.friction]
kind = "lugre"
sigma0 = "1600 N/m"
sigma1 = "1.6 N s/m"
viscous = "1.6 N s/m"
mu_static = 0.6
mu_dynamic = 0.5
stribeck_speed = "0.01 m/s"
"""
