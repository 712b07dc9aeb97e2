//! Taxels of a robot description: the `<tactile>` sensors that tactile_toolbox adds to URDF.

use dermis_geometry::limits::{MAX_NUMBER, MAX_TAXELS};
use dermis_geometry::{Pose, Quat, Vec3};
use roxmltree::{Document, Node};
use std::collections::HashSet;

/// Errors in the taxels of a robot description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum UrdfError {
    /// The file is not XML.
    #[error("{file}: not well-formed XML: {reason}")]
    NotXml { file: String, reason: String },
    /// The file has no sensor of this name.
    #[error("{file}: holds no <sensor name={wanted:?}> with a <tactile> part; those that it holds are {found:?}")]
    NoSensor { file: String, wanted: String, found: Vec<String> },
    /// A missing or duplicate element.
    #[error("{file}, line {line}: sensor {sensor:?}: {rule}")]
    Rule { file: String, line: u32, sensor: String, rule: &'static str },
    /// An invalid attribute.
    #[error("{file}, line {line}: sensor {sensor:?}: `{key}` must be {rule}, got {got:?}")]
    BadAttribute { file: String, line: u32, sensor: String, key: &'static str, rule: &'static str, got: String },
}

/// Centre (m) and outward unit normal of every taxel of a `<tactile>` sensor, in the order of their indices and in the
/// frame of the link that carries it. URDF lengths are metres and angles radians; the normal of a taxel is its z axis.
///
/// ```xml
/// <sensor name="tip"><parent link="distal"/><origin xyz="0 0 0" rpy="0 0 0"/>
///   <tactile><taxel idx="0" xyz="0.004 0.002 0" rpy="0 0.4 0"/> … </tactile>      or
///   <tactile><array rows="4" cols="4" order="row-major" size="0.005 0.005" spacing="0.006 0.006" offset="0 0"/></tactile>
/// </sensor>
/// ```
/// Rows of an array run along x, columns along y; `offset` is the position of the frame relative to the first cell.
pub fn parse(file: &str, text: &str, sensor: &str) -> Result<Vec<(Vec3, Vec3)>, UrdfError> {
    let document = Document::parse(text)
        .map_err(|error| UrdfError::NotXml { file: file.to_owned(), reason: error.to_string() })?;
    let is_tactile = |node: &Node<'_, '_>| node.children().any(|child| child.has_tag_name("tactile"));
    let sensors = || document.descendants().filter(|node| node.has_tag_name("sensor") && is_tactile(node));
    let named = |node: &Node<'_, '_>| node.attribute("name") == Some(sensor);
    let Some(node) = sensors().find(named) else {
        let found = sensors().filter_map(|node| node.attribute("name").map(str::to_owned)).collect();
        return Err(UrdfError::NoSensor { file: file.to_owned(), wanted: sensor.to_owned(), found });
    };
    let reader = Reader { file, sensor };
    let origin = node.children().find(|child| child.has_tag_name("origin"));
    let link_from_sensor = origin.map_or(Ok(Pose::IDENTITY), |origin| reader.pose(origin))?;
    let parts = || node.children().filter(|child| child.has_tag_name("tactile")).flat_map(|tactile| tactile.children());
    let arrays: Vec<Node<'_, '_>> = parts().filter(|child| child.has_tag_name("array")).collect();
    let taxels: Vec<Node<'_, '_>> = parts().filter(|child| child.has_tag_name("taxel")).collect();
    let poses = match (&arrays[..], &taxels[..]) {
        ([array], []) => reader.array(*array)?,
        ([], [_, ..]) => reader.taxels(&taxels)?,
        _ => return Err(reader.rule(node, "its <tactile> must hold one <array> or some <taxel>, and not both")),
    };
    let place = |pose: Pose| {
        let pose = link_from_sensor * pose;
        (pose.translation, pose.transform_vector(Vec3::Z))
    };
    Ok(poses.into_iter().map(place).collect())
}

struct Reader<'a> {
    file: &'a str,
    sensor: &'a str,
}

impl Reader<'_> {
    fn line(node: Node<'_, '_>) -> u32 {
        node.document().text_pos_at(node.range().start).row
    }

    fn rule(&self, node: Node<'_, '_>, rule: &'static str) -> UrdfError {
        let (file, sensor) = (self.file.to_owned(), self.sensor.to_owned());
        UrdfError::Rule { file, line: Self::line(node), sensor, rule }
    }

    fn bad(&self, node: Node<'_, '_>, key: &'static str, rule: &'static str) -> UrdfError {
        let got = node.attribute(key).unwrap_or("nothing").to_owned();
        let (file, sensor) = (self.file.to_owned(), self.sensor.to_owned());
        UrdfError::BadAttribute { file, line: Self::line(node), sensor, key, rule, got }
    }

    fn numbers<const N: usize>(
        &self,
        node: Node<'_, '_>,
        key: &'static str,
        rule: &'static str,
    ) -> Result<Option<[f64; N]>, UrdfError> {
        let Some(text) = node.attribute(key) else { return Ok(None) };
        let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        match numbers.filter(|numbers| numbers.iter().all(|number| number.abs() <= MAX_NUMBER)) {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(self.bad(node, key, rule)),
        }
    }

    fn pose(&self, node: Node<'_, '_>) -> Result<Pose, UrdfError> {
        let xyz = self.numbers::<3>(node, "xyz", "three numbers of metres")?.unwrap_or_default();
        let [roll, pitch, yaw] = self.numbers::<3>(node, "rpy", "three numbers of radians")?.unwrap_or_default();
        let rotation = Quat::from_rotation_z(yaw) * Quat::from_rotation_y(pitch) * Quat::from_rotation_x(roll);
        Ok(Pose::new(rotation, Vec3::from_array(xyz)))
    }

    fn count(&self, node: Node<'_, '_>, key: &'static str) -> Result<usize, UrdfError> {
        let count = node.attribute(key).and_then(|text| text.trim().parse().ok()).filter(|&n: &usize| n > 0);
        count.ok_or_else(|| self.bad(node, key, "a whole number above 0"))
    }

    fn array(&self, node: Node<'_, '_>) -> Result<Vec<Pose>, UrdfError> {
        let (rows, cols) = (self.count(node, "rows")?, self.count(node, "cols")?);
        if rows.saturating_mul(cols) > MAX_TAXELS {
            return Err(self.rule(node, "more than a million taxels are a slip"));
        }
        let two = "two numbers of metres";
        let size = self.numbers::<2>(node, "size", two)?.ok_or_else(|| self.bad(node, "size", two))?;
        let spacing = self.numbers::<2>(node, "spacing", two)?.unwrap_or(size);
        let offset = self.numbers::<2>(node, "offset", two)?.unwrap_or_default();
        let by_rows = match node.attribute("order") {
            None | Some("row-major") => true,
            Some("col-major" | "column-major") => false,
            Some(_) => return Err(self.bad(node, "order", "row-major or column-major")),
        };
        let place = |i: usize| {
            let (row, col) = if by_rows { (i / cols, i % cols) } else { (i % rows, i / rows) };
            let at = |k: f64, axis: usize| k * spacing[axis] - offset[axis];
            Pose::from_translation(Vec3::new(at(row as f64, 0), at(col as f64, 1), 0.0))
        };
        Ok((0..rows * cols).map(place).collect())
    }

    fn taxels(&self, nodes: &[Node<'_, '_>]) -> Result<Vec<Pose>, UrdfError> {
        let (mut taxels, mut seen) = (Vec::with_capacity(nodes.len()), HashSet::new());
        for &node in nodes {
            let index = node.attribute("idx").and_then(|text| text.trim().parse::<usize>().ok());
            let index = index.ok_or_else(|| self.bad(node, "idx", "a whole number"))?;
            if !seen.insert(index) {
                return Err(self.bad(node, "idx", "of its own for every taxel"));
            }
            taxels.push((index, self.pose(node)?));
        }
        taxels.sort_by_key(|(index, _)| *index);
        Ok(taxels.into_iter().map(|(_, pose)| pose).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROBOT: &str = r#"<robot name="hand">
        <sensor name="tip" update_rate="100"><parent link="distal"/><origin xyz="0 0 0.01" rpy="0 0 1.5707963267948966"/>
            <tactile channel="tip">
                <taxel idx="1" xyz="0 0.002 0" rpy="0 1.5707963267948966 0"/>
                <taxel idx="0" xyz="0.001 0 0"><geometry><sphere radius="0.001"/></geometry></taxel>
            </tactile></sensor>
        <sensor name="palm"><parent link="palm"/>
            <tactile><array rows="2" cols="3" order="col-major" size="0.004 0.005" offset="0.002 0"/></tactile></sensor>
        <sensor name="eye"><camera/></sensor></robot>"#;

    #[test]
    fn taxels_come_by_index_in_the_frame_of_the_link() {
        let taxels = parse("hand.urdf", ROBOT, "tip").unwrap();
        assert_eq!(taxels.len(), 2);
        let near = |a: Vec3, b: Vec3| assert!((a - b).length() < 1e-15, "{a} {b}");
        near(taxels[0].0, Vec3::new(0.0, 0.001, 0.01));
        near(taxels[0].1, Vec3::Z);
        near(taxels[1].0, Vec3::new(-0.002, 0.0, 0.01));
        // The pitch rotates z to x, the sensor's yaw to y.
        near(taxels[1].1, Vec3::Y);
    }

    #[test]
    fn an_array_is_laid_out() {
        let taxels = parse("hand.urdf", ROBOT, "palm").unwrap();
        let places: Vec<[f64; 2]> = taxels.iter().map(|t| [t.0.x, t.0.y]).collect();
        let expected = [[-2.0, 0.0], [2.0, 0.0], [-2.0, 5.0], [2.0, 5.0], [-2.0, 10.0], [2.0, 10.0]];
        for (at, mm) in places.iter().zip(expected) {
            assert!((at[0] - mm[0] * 1e-3).abs() < 1e-15 && (at[1] - mm[1] * 1e-3).abs() < 1e-15, "{places:?}");
        }
        assert!(taxels.iter().all(|t| t.1 == Vec3::Z));
    }

    #[test]
    fn slips_are_named() {
        let refusal = |from: &str, to: &str, sensor: &str| {
            assert!(ROBOT.contains(from), "{from}");
            parse("hand.urdf", &ROBOT.replacen(from, to, 1), sensor).unwrap_err().to_string()
        };
        assert!(refusal("tip", "top", "tip").contains("[\"top\", \"palm\"]"));
        assert!(refusal("0 0.002 0", "0 0.002", "tip").contains("line 4: sensor \"tip\": `xyz` must be three"));
        assert!(refusal("0 0.002 0", "0 nan 0", "tip").contains("got \"0 nan 0\""));
        assert!(refusal("0 0.002 0", "0 1e300 0", "tip").contains("got \"0 1e300 0\""));
        assert!(refusal("idx=\"1\"", "idx=\"0\"", "tip").contains("of its own"));
        assert!(refusal("rows=\"2\"", "rows=\"0\"", "palm").contains("`rows`"));
        assert!(refusal("rows=\"2\"", "rows=\"2000000\"", "palm").contains("slip"));
        assert!(refusal("size=\"0.004 0.005\"", "", "palm").contains("`size`"));
        assert!(refusal("col-major", "diagonal", "palm").contains("\"diagonal\""));
        let both = refusal("<tactile><array", "<tactile><taxel idx=\"0\"/><array", "palm");
        assert!(both.contains("not both"), "{both}");
        assert!(matches!(parse("hand.urdf", "<robot>", "tip"), Err(UrdfError::NotXml { .. })));
    }
}
