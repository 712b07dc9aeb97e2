"""``python -m dermis view``: the playground in a browser, served on this machine only; ``python -m dermis videos``: a data set with videos."""

import argparse
import functools
import http.server
import pathlib
import sys
import webbrowser

PAGE = pathlib.Path(__file__).parent / "_page"


class _Files(http.server.SimpleHTTPRequestHandler):
    """The files of the page; only the address is printed, not every request."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def view(port: int, open_browser: bool) -> None:
    """Serves the page on a port of 127.0.0.1 (0: any free port) until interrupted."""
    if not (PAGE / "dermis.wasm.gz").is_file():
        sys.exit(f"dermis: {PAGE} has no page; install a wheel made by `cargo xtask wheel`")
    handler = functools.partial(_Files, directory=str(PAGE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        sys.exit(f"dermis: port {port} of 127.0.0.1 is not available ({error.strerror}); give another with --port")
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    print(f"{url} (Ctrl-C to stop)", flush=True)
    if open_browser:
        webbrowser.open(url)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


def videos(options: argparse.Namespace) -> None:
    """Copies a LeRobot set with its images as videos."""
    from dermis import Error, dataset

    try:
        dataset.encode_videos(options.folder, options.out, codec=options.codec, crf=options.crf, columns=options.column)
    except (Error, ImportError, OSError) as error:
        sys.exit(f"dermis: {error}")
    size = sum(path.stat().st_size for path in options.out.glob("videos/**/*.mp4"))
    print(f"{options.out}: videos of {size / 1e6:.2f} MB; SHA256SUMS lists all files")


def main() -> None:
    """Runs a command of the package."""
    parser = argparse.ArgumentParser(prog="python -m dermis", description="Tactile sensors for simulated robots.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("view", help="press objects into sensors in a browser")
    command.add_argument("--port", type=int, default=0, help="port of 127.0.0.1; by default any free port")
    command.add_argument("--no-open", action="store_true", help="print the address and open no browser")
    command.set_defaults(run=lambda options: view(options.port, not options.no_open))
    command = commands.add_parser("videos", help="copy a LeRobot set with its images as videos (needs dermis[video])")
    command.add_argument("folder", type=pathlib.Path, help="a finished set of the format lerobot")
    command.add_argument("--out", type=pathlib.Path, required=True, help="a new folder")
    command.add_argument("--codec", choices=("av1", "h264"), default="av1", help="default: av1")
    command.add_argument("--crf", type=int, default=18, help="quality: 0 is best, 18 the default, LeRobot's default 30")
    command.add_argument("--column", action="append", help="images to encode, several times if need be; default: all")
    command.set_defaults(run=videos)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
