"""The command ``dermis``, also as ``python -m dermis``: the command line, and ``dermis videos``, which needs Python."""

import argparse
import pathlib
import sys

from dermis import _native


def videos(arguments: list[str]) -> None:
    """Copies a LeRobot set with its images as videos."""
    from dermis import Error, dataset

    parser = argparse.ArgumentParser(
        prog="dermis videos", description="Copy a LeRobot set with its images as videos (needs dermis[video])."
    )
    parser.add_argument("folder", type=pathlib.Path, help="a finished set of the format lerobot")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="a new folder")
    parser.add_argument("--codec", choices=("av1", "h264"), default="av1", help="default: av1")
    parser.add_argument("--crf", type=int, default=18, help="quality: 0 is best, 18 the default, LeRobot's default 30")
    parser.add_argument("--column", action="append", help="images to encode, several times if need be; default: all")
    options = parser.parse_args(arguments)
    try:
        dataset.encode_videos(options.folder, options.out, codec=options.codec, crf=options.crf, columns=options.column)
    except (Error, ImportError, OSError) as error:
        sys.exit(f"dermis: {error}")
    size = sum(path.stat().st_size for path in options.out.glob("videos/**/*.mp4"))
    print(f"{options.out}: videos of {size / 1e6:.2f} MB; SHA256SUMS lists all files")


def main() -> None:
    """Runs a command."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["videos"]:
        videos(arguments[1:])
    else:
        sys.exit(_native.run_command(["dermis", *arguments]))


if __name__ == "__main__":
    main()
