//! Reads a type through [`serde_json::Value`].

/// Implements `Serialize` and `Deserialize` for types that derive them with `#[serde(remote = "Self")]`.
///
/// What the derive makes is generic over the format, and every crate whose files contain the type would compile it again, once per format that occurs
/// in them. With this implementation only the way to a value and from it is generic. Error messages stay the same.
macro_rules! deserialize_through_value {
    ($($name:ty),+) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$name>::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                fn read(value: serde_json::Value) -> Result<$name, serde_json::Error> {
                    <$name>::deserialize(value)
                }
                read(serde_json::Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

pub(crate) use deserialize_through_value;
