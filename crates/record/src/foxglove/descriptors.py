"""Writes `descriptors.bin` beside it: Foxglove's own message types, from the package `foxglove-schemas-protobuf`, and those of dermis."""

import importlib
import pathlib

from google.protobuf import descriptor_pb2

HERE = pathlib.Path(__file__).resolve().parent
FOXGLOVE = ["CompressedImage", "FrameTransforms", "SceneUpdate"]
Field = descriptor_pb2.FieldDescriptorProto
TYPES = {
    "bytes": Field.TYPE_BYTES,
    "double": Field.TYPE_DOUBLE,
    "string": Field.TYPE_STRING,
    "uint32": Field.TYPE_UINT32,
}
# Each field is a type and a name; `*` marks an array. Forces in N, torques in N m, in the frame of the sensor;
# flux densities in µT, in the frames of the chips.
DERMIS = {
    "Wrench": "google.protobuf.Timestamp timestamp, string frame_id, foxglove.Vector3 force, foxglove.Vector3 torque",
    "Taxels": "google.protobuf.Timestamp timestamp, string frame_id, uint32 rows, uint32 cols, double sum_newton, uint32 saturated, "
    "double* values_newton, double* reported_newton, uint32* raw, string* warnings, double* magnetic_ut",
}


def dermis():
    """The file of the types of dermis."""
    file = descriptor_pb2.FileDescriptorProto(name="dermis.proto", package="dermis", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "foxglove/Vector3.proto"])
    for name, fields in DERMIS.items():
        message = file.message_type.add(name=name)
        for number, field in enumerate(fields.split(", "), 1):
            kind, name = field.split()
            plain = kind.rstrip("*")
            made = message.field.add(name=name, number=number, json_name=name)
            made.label = Field.LABEL_REPEATED if kind.endswith("*") else Field.LABEL_OPTIONAL
            made.type = TYPES.get(plain, Field.TYPE_MESSAGE)
            if plain not in TYPES:
                made.type_name = f".{plain}"
    return file


def add(files, descriptor):
    """Adds a file after those that it needs."""
    if descriptor.name not in files:
        for needed in descriptor.dependencies:
            add(files, needed)
        files[descriptor.name] = descriptor_pb2.FileDescriptorProto.FromString(descriptor.serialized_pb)


files = {}
for name in FOXGLOVE:
    add(files, importlib.import_module(f"foxglove_schemas_protobuf.{name}_pb2").DESCRIPTOR)
files["dermis.proto"] = dermis()
(HERE / "descriptors.bin").write_bytes(descriptor_pb2.FileDescriptorSet(file=files.values()).SerializeToString(deterministic=True))
