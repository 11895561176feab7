"""The command line: `towpath --help` lists what it can do. One file per group of commands."""


def main() -> None:
    from towpath.cli.root import app

    app(prog_name="towpath")
