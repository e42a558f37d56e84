"""A trace of a few events and samples, through any NVTXW backend.

    pip install nvtx==0.2.17 numpy
    python examples/python/hello.py target/release/libnvtxw3.so hello.pftrace

A call that is refused raises an exception with a code; what was wrong, a backend tells on standard error.
"""
import sys

from nvtx import writer

if len(sys.argv) != 3:
    sys.exit("usage: hello.py LIBRARY OUTPUT")
library, output = sys.argv[1:]

backend = writer.load_backend(library)
with writer.Session("hello", backend=backend, config=f"path={output}|overwrite=true") as session:
    domain = session.get_domain()
    # Here for what happens on a device.
    with session.create_stream("gpu", domain=domain, scope=domain.get_scope("GPU[0]")) as gpu:
        gpu.write_mark(100, message="start")
        gpu.write_pushpop(200, 450, message="copy", color=0xFF008000, category="io")
        queue = domain.get_counter("queue depth", int)
        gpu.write_counter_batch(queue, [0, 1, 2], timestamps=[0, 100, 200])
backend.close()
