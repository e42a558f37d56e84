const _: () = {
    use ::nvtxw::__private as _nvtxw;
    /**An event of kind `range_startend`, `Kernel` in traces.

| entry | type | |
|---|---|---|
| `start` | `i64` | timestamp_start |
| `end` | `i64` | timestamp_end |
| `name` | `StringHandle` | message |
| `color` | `u32` | color |
| `grid` | `[u32; 3]` |  |
| `shared` | `u64` | `bytes`, `shared memory` |
*/
    #[automatically_derived]
    unsafe impl _nvtxw::NvtxEvent for Kernel {
        #[doc(hidden)]
        const SCHEMA: _nvtxw::SchemaTable = _nvtxw::SchemaTable {
            name: c"Kernel",
            role: _nvtxw::SchemaRole::Event(_nvtxw::EventKind::RangeStartEnd),
            size: _nvtxw::size_of::<Kernel>(),
            pack_align: _nvtxw::Option::None,
            entries: &[
                _nvtxw::Entry::new(
                    c"start",
                    <i64 as _nvtxw::TimestampField>::RANGE_BEGIN,
                    _nvtxw::offset_of!(Kernel, start),
                ),
                _nvtxw::Entry::new(
                    c"end",
                    <i64 as _nvtxw::TimestampField>::RANGE_END,
                    _nvtxw::offset_of!(Kernel, end),
                ),
                _nvtxw::Entry::new(
                    c"name",
                    <StringHandle as _nvtxw::MessageField>::MESSAGE,
                    _nvtxw::offset_of!(Kernel, name),
                ),
                _nvtxw::Entry::new(
                    c"color",
                    <u32 as _nvtxw::ColorField>::COLOR,
                    _nvtxw::offset_of!(Kernel, color),
                ),
                _nvtxw::Entry::new(
                    c"grid",
                    <[u32; 3] as _nvtxw::NvtxField>::PLAIN,
                    _nvtxw::offset_of!(Kernel, grid),
                ),
                _NVTXW_5,
            ],
        };
        #[doc(hidden)]
        const CHECK: () = {
            let _ = |_nvtxw_this: Self| {
                let Self {
                    start: _nvtxw_0,
                    end: _nvtxw_1,
                    name: _nvtxw_2,
                    color: _nvtxw_3,
                    grid: _nvtxw_4,
                    r#shared: _nvtxw_5,
                    _rest: _nvtxw_6,
                } = _nvtxw_this;
                _nvtxw::tie::<i64, _>(_nvtxw_0);
                _nvtxw::tie::<i64, _>(_nvtxw_1);
                _nvtxw::tie::<StringHandle, _>(_nvtxw_2);
                _nvtxw::tie::<u32, _>(_nvtxw_3);
                _nvtxw::tie::<[u32; 3], _>(_nvtxw_4);
                _nvtxw::tie::<u64, _>(_nvtxw_5);
                _nvtxw::tie::<u64, _>(_nvtxw_6);
            };
        };
        const KIND: _nvtxw::EventKind = _nvtxw::EventKind::RangeStartEnd;
    }
    #[automatically_derived]
    impl _nvtxw::CompleteEvent for Kernel {}
    #[automatically_derived]
    impl _nvtxw::FixedEvent for Kernel {}
    const _: () = _nvtxw::Extent::new(
            "start",
            0,
            _nvtxw::offset_of!(Kernel, start),
            _nvtxw::size_of::<i64>(),
        )
        .assert_before("end", _nvtxw::offset_of!(Kernel, end));
    const _: () = _nvtxw::Extent::new(
            "end",
            1,
            _nvtxw::offset_of!(Kernel, end),
            _nvtxw::size_of::<i64>(),
        )
        .assert_before("name", _nvtxw::offset_of!(Kernel, name));
    const _: () = _nvtxw::Extent::new(
            "name",
            2,
            _nvtxw::offset_of!(Kernel, name),
            _nvtxw::size_of::<StringHandle>(),
        )
        .assert_before("color", _nvtxw::offset_of!(Kernel, color));
    const _: () = _nvtxw::Extent::new(
            "color",
            3,
            _nvtxw::offset_of!(Kernel, color),
            _nvtxw::size_of::<u32>(),
        )
        .assert_before("grid", _nvtxw::offset_of!(Kernel, grid));
    const _: () = _nvtxw::Extent::new(
            "grid",
            4,
            _nvtxw::offset_of!(Kernel, grid),
            _nvtxw::size_of::<[u32; 3]>(),
        )
        .assert_before("shared", _nvtxw::offset_of!(Kernel, r#shared));
    const _: () = _nvtxw::Extent::new(
            "shared",
            5,
            _nvtxw::offset_of!(Kernel, r#shared),
            _nvtxw::size_of::<u64>(),
        )
        .assert_before("_rest", _nvtxw::offset_of!(Kernel, _rest));
    const _: () = _nvtxw::Extent::new(
            "_rest",
            6,
            _nvtxw::offset_of!(Kernel, _rest),
            _nvtxw::size_of::<u64>(),
        )
        .skipped(<u64 as _nvtxw::SkippedField>::SKIPPED)
        .assert_last(_nvtxw::size_of::<Kernel>());
    const _NVTXW_5: _nvtxw::Entry = _nvtxw::Entry::min(
        _nvtxw::Entry::scale(
            _nvtxw::Entry::unit(
                _nvtxw::Entry::description(
                    _nvtxw::Entry::new(
                        c"shared",
                        <u64 as _nvtxw::NvtxField>::PLAIN,
                        _nvtxw::offset_of!(Kernel, r#shared),
                    ),
                    c"shared memory",
                ),
                c"bytes",
            ),
            1,
            1024,
        ),
        _nvtxw::Number::Int(0),
    );
};
