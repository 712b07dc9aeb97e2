//! `dermis import`: converts OpenRAVE sensor definitions.

use crate::console::{refuse_existing, say, say_document};
use anyhow::{Context, bail};
use dermis::geometry::files::LengthUnit;
use dermis::geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis::geometry::quantity::Length;
use dermis::geometry::regular_file;
use dermis::output::{ClaimedFolder, Output};
use dermis::sensor::{SensorSpec, SurfaceSpec, openrave};
use std::path::{Path, PathBuf};

/// Convert an OpenRAVE sensor definition (Moisio et al. 2013, Table 2) to a sensor file.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("surface").required(true).args(["mesh", "grid"]))]
#[command(after_help = "Example:\n  dermis import sensor.xml --grid 14x6 --pitch 3.4mm --out sensor.toml")]
pub struct Arguments {
    /// The OpenRAVE definition.
    file: PathBuf,
    /// A mesh whose vertices are the texels.
    #[arg(long)]
    mesh: Option<PathBuf>,
    /// Unit of the mesh: m, cm, mm or in.
    #[arg(long, requires = "mesh")]
    unit: Option<LengthUnit>,
    /// Rows and columns of a flat array, such as 14x6.
    #[arg(long, value_name = "ROWSxCOLS", value_parser = rows_and_cols, requires = "pitch")]
    grid: Option<(usize, usize)>,
    /// Distance between texels of the array.
    #[arg(long, requires = "grid")]
    pitch: Option<Length>,
    /// Name of the sensor, if the definition holds several.
    #[arg(long)]
    name: Option<String>,
    /// Write the sensor to this .toml file; by default to stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file of this name.
    #[arg(long, requires = "out")]
    overwrite: bool,
}

fn rows_and_cols(text: &str) -> Result<(usize, usize), String> {
    let invalid = || format!("{text:?} is not rows and columns such as 14x6");
    let (rows, cols) = text.split_once('x').ok_or_else(invalid)?;
    Ok((rows.trim().parse().map_err(|_| invalid())?, cols.trim().parse().map_err(|_| invalid())?))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.out.as_deref().map(folder_of);
    let _claimed = arguments.out.as_deref().map(ClaimedFolder::of_file).transpose()?;
    refuse_existing(arguments.out.clone(), arguments.overwrite)?;
    let file = arguments.file.display().to_string();
    let text = regular_file::read_text(&arguments.file, MAX_DESCRIPTION_BYTES)
        .with_context(|| format!("{file}: cannot be read"))?;
    let surface = match (arguments.grid, arguments.pitch, &arguments.mesh) {
        (Some((rows, cols)), Some(pitch), _) => SurfaceSpec::Grid { rows, cols, pitch },
        (_, _, Some(mesh)) => {
            // A sensor file finds its mesh relative to itself.
            let elsewhere = folder.is_some_and(|folder| folder != Path::new("."));
            let file = if elsewhere { std::path::absolute(mesh)? } else { mesh.clone() };
            SurfaceSpec::Mesh { file, unit: arguments.unit }
        }
        _ => bail!("give --grid with --pitch, or --mesh"),
    };
    let spec = chosen(openrave::parse(&file, &text, &surface)?, arguments.name.as_deref(), &file)?;
    let sensor = spec.build(None).with_context(|| file.clone())?;
    let toml = spec.to_toml();
    let Some(path) = &arguments.out else {
        say_document(toml.trim_end());
        return Ok(());
    };
    let Some(name) = path.file_name() else { bail!("{}: is not the name of a file", path.display()) };
    let mut output = Output::new();
    output.add(name, toml);
    output.commit(folder_of(path))?;
    say(format!("wrote {}: sensor {:?} with {} texels", path.display(), spec.name, sensor.taxels().len()));
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn chosen(specs: Vec<SensorSpec>, name: Option<&str>, file: &str) -> anyhow::Result<SensorSpec> {
    let names = specs.iter().map(|spec| format!("{:?}", spec.name)).collect::<Vec<_>>().join(", ");
    let count = specs.len();
    let mut fitting = specs.into_iter().filter(|spec| name.is_none_or(|name| spec.name == name));
    match (fitting.next(), name) {
        (Some(spec), Some(_)) => Ok(spec),
        (Some(spec), None) if count == 1 => Ok(spec),
        (_, None) => bail!("{file}: holds {count} sensors, {names}; choose one with --name"),
        (None, Some(name)) => bail!("{file}: holds no sensor {name:?}; there are {names}"),
    }
}
