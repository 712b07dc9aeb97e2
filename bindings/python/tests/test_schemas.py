"""The JSON Schemas in docs/reference: every TOML file of the repository is valid, and a misspelt key is not."""

import copy
import json
import re

import pytest
from own_files import ROOT, own_files

jsonschema = pytest.importorskip("jsonschema")
tomllib = pytest.importorskip("tomllib")

FILES = {
    "sensor": ["crates/sensor/presets/*.toml", "crates/research/eflesh/*.toml", "crates/gpu/tests/*.toml"],
    "scene": ["apps/cli/scenes/*.toml", "apps/cli/tests/corpus/scene-*.toml", "validation/ros/*.toml"],
    "dataset": ["apps/cli/datasets/*.toml"],
    "experiment": ["experiments/*/expected.toml"],
    "claims": ["experiments/claims.toml"],
    "real": ["validation/real/*.toml"],
}

# Files of other programs.
FOREIGN = {"Cargo.toml", "config.toml", "deny.toml", "pyproject.toml", "rust-toolchain.toml", "rustfmt.toml", ".taplo.toml"}

CASES = [(kind, path) for kind, patterns in FILES.items() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def schema(kind):
    return json.loads((ROOT / f"docs/reference/{kind}.schema.json").read_text())


def errors(kind, table):
    validator = jsonschema.Draft202012Validator(schema(kind))
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(table)]


@pytest.mark.parametrize("kind", FILES)
def test_the_schema_is_one(kind):
    jsonschema.Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize(("kind", "path"), CASES, ids=[str(path.relative_to(ROOT)) for _, path in CASES])
def test_files_of_the_repository_are_valid(kind, path):
    assert errors(kind, tomllib.loads(path.read_text())) == []


def without_schema(root):
    """The TOML files below root that have no schema."""
    known = {root / path.relative_to(ROOT) for _, path in CASES}
    # Inputs of the fuzzer are wrong on purpose.
    found = {path for path in own_files(".toml", root) if "corpus" not in path.relative_to(root).parts}
    return {path for path in found - known if path.name not in FOREIGN}


def test_every_toml_file_has_a_schema():
    assert without_schema(ROOT) == set()


def test_results_of_the_demo_and_other_files_of_the_user_are_not_checked(tmp_path):
    block = "```toml\n[world]\nwrong = 1\n```\n"
    for folder in ["out/demo", "my-scenes/src", "target/release", "crates/skin/out", ".venv/src", "."]:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "array.toml").write_text("wrong = 1")
        (tmp_path / folder / "notes.md").write_text(block)
        (tmp_path / folder / "lib.rs").write_text(block)
    assert without_schema(tmp_path) == set() and list(blocks(tmp_path)) == []
    own = tmp_path / "crates/skin/src"
    own.mkdir()
    (own / "own.toml").write_text("")
    (own / "lib.rs").write_text(block)
    assert without_schema(tmp_path) == {own / "own.toml"} and len(list(blocks(tmp_path))) == 1


def blocks(root):
    """The TOML examples of the documentation, in Markdown and in doc comments, that are whole files."""
    sources = [path for path in own_files(".rs", root) if "src" in path.relative_to(root).parts]
    for path in [*own_files(".md", root), *sources]:
        text = re.sub(r"(?m)^//[!/] ?", "", path.read_text())
        for block in re.findall(r"(?ms)^```toml[^\n]*\n(.*?)^```", text):
            keys = tomllib.loads(block).keys()
            kind = {"world": "scene", "scenario": "dataset", "surface": "sensor", "expect": "experiment"}
            for key in keys & kind.keys():
                if key != "surface" or {"name", "skin"} <= keys:
                    yield pytest.param(kind[key], block, id=f"{path.relative_to(root)}-{key}")


@pytest.mark.parametrize(("kind", "block"), list(blocks(ROOT)))
def test_examples_in_the_documentation_are_valid(kind, block):
    assert errors(kind, tomllib.loads(block)) == []


def tables(value):
    """Every table of a file."""
    if isinstance(value, dict):
        yield value
        # The keys of `bars` are names of measures.
        value = [entry for key, entry in value.items() if key != "bars"]
    if isinstance(value, list):
        for entry in value:
            yield from tables(entry)


@pytest.mark.parametrize(("kind", "path"), CASES, ids=[str(path.relative_to(ROOT)) for _, path in CASES])
def test_a_misspelt_key_is_refused_in_every_table(kind, path):
    table = tomllib.loads(path.read_text())
    validator = jsonschema.Draft202012Validator(schema(kind))
    for number, _ in enumerate(list(tables(table))[:12]):
        wrong = copy.deepcopy(table)
        changed = list(tables(wrong))[number]
        changed["stifness"] = 1
        assert not validator.is_valid(wrong), changed


@pytest.mark.parametrize("pitch", ["3.4", "3.4 N", "mm", 3.4, "3,4 mm", "3.4 mm 2"])
def test_a_quantity_needs_a_number_and_its_unit(pitch):
    table = tomllib.loads((ROOT / "crates/sensor/presets/wts0614.toml").read_text())
    table["surface"]["grid"]["pitch"] = pitch
    assert errors("sensor", table)


@pytest.mark.parametrize("pitch", ["3.4 mm", "3.4mm", " 34e-4 m", "+.34 cm", "3. mm"])
def test_every_way_to_write_a_quantity_is_accepted(pitch):
    table = tomllib.loads((ROOT / "crates/sensor/presets/wts0614.toml").read_text())
    table["surface"]["grid"]["pitch"] = pitch
    assert errors("sensor", table) == []


@pytest.mark.parametrize(
    ("part", "valid"),
    [
        ({"skin": {"stiffness": "2 N/mm"}}, True),
        ({"skin": {"kind": "layer"}}, True),
        ({"skin": {"friction": {"mu_static": 0.5}}}, True),
        ({"response": {"noise": {"sd": "2 mN"}}}, True),
        ({"skin": {"stifness": "2 N/mm"}}, False),
        ({"skin": {"stiffness": "2 mm"}}, False),
        ({"response": {"noise": {"sdd": "2 mN"}}}, False),
        ({"skinn": {}}, False),
    ],
)
@pytest.mark.parametrize("kind", ["scene", "dataset"])
def test_parts_of_a_sensor_override_it(kind, part, valid):
    path = {"scene": "apps/cli/scenes/demo.toml", "dataset": "apps/cli/datasets/array.toml"}[kind]
    table = tomllib.loads((ROOT / path).read_text())
    table["sensor"] = [{"name": "pad", "preset": "wts0614", **part}]
    assert (errors(kind, table) == []) == valid
