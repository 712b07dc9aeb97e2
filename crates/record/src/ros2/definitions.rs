//! The message definitions stored in a bag: the message, followed by each message that it uses.

pub const TF_MESSAGE: usize = 0;
pub const WRENCH_STAMPED: usize = 1;
pub const FLOAT32_MULTI_ARRAY: usize = 2;
pub const IMAGE: usize = 3;
pub const STRING: usize = 4;

macro_rules! next {
    ($name:literal) => {
        concat!("================================================================================\nMSG: ", $name, "\n")
    };
}
macro_rules! header {
    () => {
        concat!(
            next!("std_msgs/Header"),
            "builtin_interfaces/Time stamp\nstring frame_id\n",
            next!("builtin_interfaces/Time"),
            "int32 sec\nuint32 nanosec\n"
        )
    };
}
macro_rules! vector {
    () => {
        concat!(next!("geometry_msgs/Vector3"), "float64 x\nfloat64 y\nfloat64 z\n")
    };
}

/// Name and definition of each message.
pub const ALL: [(&str, &str); 5] = [
    (
        "tf2_msgs/msg/TFMessage",
        concat!(
            "geometry_msgs/TransformStamped[] transforms\n",
            next!("geometry_msgs/TransformStamped"),
            "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n",
            next!("geometry_msgs/Transform"),
            "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
            vector!(),
            next!("geometry_msgs/Quaternion"),
            "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
            header!()
        ),
    ),
    (
        "geometry_msgs/msg/WrenchStamped",
        concat!(
            "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n",
            next!("geometry_msgs/Wrench"),
            "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n",
            vector!(),
            header!()
        ),
    ),
    (
        "std_msgs/msg/Float32MultiArray",
        concat!(
            "std_msgs/MultiArrayLayout layout\nfloat32[] data\n",
            next!("std_msgs/MultiArrayLayout"),
            "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n",
            next!("std_msgs/MultiArrayDimension"),
            "string label\nuint32 size\nuint32 stride\n"
        ),
    ),
    (
        "sensor_msgs/msg/Image",
        concat!(
            "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data\n",
            header!()
        ),
    ),
    ("std_msgs/msg/String", "string data\n"),
];
