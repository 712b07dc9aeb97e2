//! The description of a camera, its light and its markers.

use super::{CameraSpec, LightSpec, MarkersSpec};
use serde::{Deserialize, Serialize};

/// The description of [`super::Optics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpticsSpec {
    /// The camera.
    pub camera: CameraSpec,
    /// The light; defaults to grey light from the camera.
    #[serde(default)]
    pub light: LightSpec,
    /// Dots on the gel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markers: Option<MarkersSpec>,
}
