"""``python -m dermis view``: the playground in a browser, served on this machine only."""

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


def main() -> None:
    """Runs a command of the package."""
    parser = argparse.ArgumentParser(prog="python -m dermis", description="Tactile sensors for simulated robots.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("view", help="press objects into sensors in a browser")
    command.add_argument("--port", type=int, default=0, help="port of 127.0.0.1; by default any free port")
    command.add_argument("--no-open", action="store_true", help="print the address and open no browser")
    options = parser.parse_args()
    view(options.port, not options.no_open)


if __name__ == "__main__":
    main()
