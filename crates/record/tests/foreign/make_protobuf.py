"""Writes `protobuf.mcap` beside it with the packages `mcap-protobuf-support` and `foxglove-schemas-protobuf`."""

import pathlib

from foxglove_schemas_protobuf.FrameTransform_pb2 import FrameTransform
from foxglove_schemas_protobuf.LaserScan_pb2 import LaserScan
from foxglove_schemas_protobuf.RawImage_pb2 import RawImage
from mcap_protobuf.writer import Writer

HERE = pathlib.Path(__file__).resolve().parent
with (HERE / "protobuf.mcap").open("wb") as file, Writer(file) as writer:
    for i in range(5):
        time = 1_700_000_000_000_000_000 + i * 20_000_000
        image = RawImage(frame_id="pad", width=2, height=1, encoding="rgb8", step=6, data=bytes([i, 1, 2, 3, 4, 5]))
        frame = FrameTransform(parent_frame_id="world", child_frame_id="Left pad")
        frame.translation.z, frame.rotation.w = -0.5 * i, 1.0
        scan = LaserScan(start_angle=-1.0, ranges=[1.0, 0.0, float("nan"), 4.0 * i])
        scan.pose.position.x = 3.0
        for topic, message in (("/camera", image), ("/frame", frame), ("/scan", scan)):
            writer.write_message(topic, message, time, time)
