const _: () = {
    use ::nvtxw::__private as _nvtxw;
    /**A counter group, `Channel` in traces.

| entry | type | |
|---|---|---|
| `time` | `i64` | timestamp |
| `read` | `u64` | `bytes` |
| `busy` | `f64` |  |
*/
    #[automatically_derived]
    unsafe impl _nvtxw::NvtxCounterGroup for Channel {
        #[doc(hidden)]
        const SCHEMA: _nvtxw::SchemaTable = _nvtxw::SchemaTable {
            name: c"Channel",
            role: _nvtxw::SchemaRole::CounterGroup,
            size: _nvtxw::size_of::<Channel>(),
            pack_align: _nvtxw::Option::None,
            entries: &[
                _nvtxw::Entry::new(
                    c"time",
                    <i64 as _nvtxw::TimestampField>::SAMPLE,
                    _nvtxw::offset_of!(Channel, time),
                ),
                _NVTXW_1,
                _NVTXW_2,
            ],
        };
        #[doc(hidden)]
        const CHECK: () = {
            let _ = |_nvtxw_this: Self| {
                let Self { time: _nvtxw_0, read: _nvtxw_1, busy: _nvtxw_2 } = _nvtxw_this;
                _nvtxw::tie::<i64, _>(_nvtxw_0);
                _nvtxw::tie::<u64, _>(_nvtxw_1);
                _nvtxw::tie::<f64, _>(_nvtxw_2);
            };
        };
    }
    #[automatically_derived]
    impl _nvtxw::EmbeddedTime for Channel {}
    const _: () = _nvtxw::Extent::new(
            "time",
            0,
            _nvtxw::offset_of!(Channel, time),
            _nvtxw::size_of::<i64>(),
        )
        .assert_before("read", _nvtxw::offset_of!(Channel, read));
    const _: () = _nvtxw::Extent::new(
            "read",
            1,
            _nvtxw::offset_of!(Channel, read),
            _nvtxw::size_of::<u64>(),
        )
        .assert_before("busy", _nvtxw::offset_of!(Channel, busy));
    const _: () = _nvtxw::Extent::new(
            "busy",
            2,
            _nvtxw::offset_of!(Channel, busy),
            _nvtxw::size_of::<f64>(),
        )
        .assert_last(_nvtxw::size_of::<Channel>());
    const _NVTXW_1: _nvtxw::Entry = _nvtxw::Entry::value_type(
        _nvtxw::Entry::unit(
            _nvtxw::Entry::new(
                c"read",
                <u64 as _nvtxw::CounterField>::COUNTER,
                _nvtxw::offset_of!(Channel, read),
            ),
            c"bytes",
        ),
        _nvtxw::ValueType::Delta,
    );
    const _NVTXW_2: _nvtxw::Entry = _nvtxw::Entry::interpolation(
        _nvtxw::Entry::new(
            c"busy",
            <f64 as _nvtxw::CounterField>::COUNTER,
            _nvtxw::offset_of!(Channel, busy),
        ),
        _nvtxw::Interpolation::Linear,
    );
};
