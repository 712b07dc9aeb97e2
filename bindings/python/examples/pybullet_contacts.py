"""Reads PyBullet's contact points with a tactile array; PyBullet computes the contact."""

import numpy as np
import pybullet as bullet

import dermis

sensor = dermis.Sensor.preset("wts0614")

bullet.connect(bullet.DIRECT)
bullet.setGravity(0, 0, -9.81)
half = [0.03, 0.03, 0.01]
pad = bullet.createMultiBody(0, bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=half))
shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=[0.006, 0.012, 0.01])
cube = bullet.createMultiBody(0.2, shape, basePosition=[0.002, 0.004, 0.0205])
for _ in range(480):
    bullet.stepSimulation()

world_from_sensor = np.eye(4)
world_from_sensor[2, 3] = half[2]  # on top of the pad
points, forces, normals = [], [], []
for contact in bullet.getContactPoints(pad, cube):
    place_on_pad, normal_on_cube, normal_force = contact[5], np.array(contact[7]), contact[9]
    shear = contact[10] * np.array(contact[11]) + contact[12] * np.array(contact[13])
    points.append(place_on_pad)
    normals.append(-normal_on_cube)
    forces.append(normal_on_cube * normal_force + shear)

reading = sensor.read_contacts(points, forces, normals=normals, sensor_pose=world_from_sensor)
print(np.round(reading.taxels, 2))
assert abs(reading.force[2] + 0.2 * 9.81) < 0.05, reading.force
