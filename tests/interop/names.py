#!/usr/bin/env python3
"""Checks that a C program uses every helper of NVIDIA's headers: each function, macro and enumerator of nvtxw3/*.h, and the macros
of nvtx3/nvToolsExtPayloadHelper.h.

    names.py INCLUDE_FOLDER SOURCE.c…
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def code(path):
    return COMMENT.sub(" ", path.read_text())


def offered(include):
    headers = [*sorted((include / "nvtxw3").glob("*.h")), include / "nvtx3/nvToolsExtPayloadHelper.h"]
    for header in headers:
        text = code(header)
        # What a header undefines is its own, and so are guards and the functions that its inline functions share.
        own = set(re.findall(r"#\s*undef (\w+)", text)) | set(re.findall(r"#if !defined\((\w+)\)\s*#define", text))
        macros = re.findall(r"#\s*define (NVTXW?_\w+)", text)
        functions = re.findall(r"^(?:NVTX_INLINE_STATIC|NVTXW_DECLSPEC)\s[\w\s*]*?(nvtxw\w+)\s*\(", text, re.MULTILINE)
        enumerators = [name for body in re.findall(r"typedef enum \w+\s*{(.*?)}", text, re.DOTALL) for name in re.findall(r"(NVTXW_\w+)\s*=", body)]
        for name in [*macros, *functions, *enumerators]:
            if name not in own and "Impl" not in name:
                yield name


include = pathlib.Path(sys.argv[1])
used = set()
for source in sys.argv[2:]:
    used.update(re.findall(r"\w+", re.sub(r'"(?:\\.|[^"\\])*"', '""', code(pathlib.Path(source)))))
wanted = sorted(set(offered(include)))
missing = [name for name in wanted if name not in used]
for name in missing:
    print(f"not used: {name}")
print(f"{len(wanted) - len(missing)} of {len(wanted)} helpers are used")
# Fewer would mean that the headers are read wrongly: the functions that write events alone are twelve.
sys.exit(bool(missing) or len(wanted) < 60)
