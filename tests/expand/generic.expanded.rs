const _: () = {
    use tracing::__private as _nvtxw;
    /**An event of kind `range_push`, `a reading` in traces.

| entry | type | |
|---|---|---|
| `time` | `u64` | timestamp_start, cpu_tsc |
| `launch` | `u64` | correlation |
| `value` | `D :: Value` |  |
| `rest` | `[T; N]` |  |
*/
    #[automatically_derived]
    unsafe impl<D: Device, T, const N: usize> _nvtxw::NvtxEvent for Reading<D, T, N>
    where
        T: Into<u64>,
        D: _nvtxw::Copy + 'static,
        T: _nvtxw::Copy + 'static,
        D::Value: _nvtxw::NvtxField,
        [T; N]: _nvtxw::NvtxField,
    {
        #[doc(hidden)]
        const SCHEMA: _nvtxw::SchemaTable = _nvtxw::SchemaTable {
            name: c"a reading",
            role: _nvtxw::SchemaRole::Event(_nvtxw::EventKind::RangePush),
            size: _nvtxw::size_of::<Self>(),
            pack_align: _nvtxw::Option::Some(4),
            entries: &[
                _nvtxw::Entry::time_domain(
                    _nvtxw::Entry::new(
                        c"time",
                        <u64 as _nvtxw::TimestampField>::RANGE_BEGIN,
                        _nvtxw::offset_of!(Self, time),
                    ),
                    _nvtxw::TimestampType::CpuTsc,
                ),
                _nvtxw::Entry::correlation(
                    _nvtxw::Entry::hidden(
                        _nvtxw::Entry::new(
                            c"launch",
                            <u64 as _nvtxw::CorrelationField>::CORRELATION,
                            _nvtxw::offset_of!(Self, launch),
                        ),
                    ),
                    c"launch",
                ),
                _nvtxw::Entry::max(
                    _nvtxw::Entry::new(
                        c"value",
                        <D::Value as _nvtxw::NvtxField>::PLAIN,
                        _nvtxw::offset_of!(Self, value),
                    ),
                    _nvtxw::Number::Float(-0.5),
                ),
                _nvtxw::Entry::new(
                    c"rest",
                    <[T; N] as _nvtxw::NvtxField>::PLAIN,
                    _nvtxw::offset_of!(Self, rest),
                ),
            ],
        };
        #[doc(hidden)]
        const CHECK: () = {
            let _ = |_nvtxw_this: Self| {
                let Self {
                    time: _nvtxw_0,
                    launch: _nvtxw_1,
                    value: _nvtxw_2,
                    rest: _nvtxw_3,
                } = _nvtxw_this;
                _nvtxw::tie::<u64, _>(_nvtxw_0);
                _nvtxw::tie::<u64, _>(_nvtxw_1);
                _nvtxw::tie::<D::Value, _>(_nvtxw_2);
                _nvtxw::tie::<[T; N], _>(_nvtxw_3);
            };
            _nvtxw::Extent::new(
                    "time",
                    0,
                    _nvtxw::offset_of!(Self, time),
                    _nvtxw::size_of::<u64>(),
                )
                .assert_before("launch", _nvtxw::offset_of!(Self, launch));
            _nvtxw::Extent::new(
                    "launch",
                    1,
                    _nvtxw::offset_of!(Self, launch),
                    _nvtxw::size_of::<u64>(),
                )
                .assert_before("value", _nvtxw::offset_of!(Self, value));
            _nvtxw::Extent::new(
                    "value",
                    2,
                    _nvtxw::offset_of!(Self, value),
                    _nvtxw::size_of::<D::Value>(),
                )
                .assert_before("rest", _nvtxw::offset_of!(Self, rest));
            _nvtxw::Extent::new(
                    "rest",
                    3,
                    _nvtxw::offset_of!(Self, rest),
                    _nvtxw::size_of::<[T; N]>(),
                )
                .assert_last(_nvtxw::size_of::<Self>());
        };
        const KIND: _nvtxw::EventKind = _nvtxw::EventKind::RangePush;
    }
    #[automatically_derived]
    impl<D: Device, T, const N: usize> _nvtxw::FixedEvent for Reading<D, T, N>
    where
        T: Into<u64>,
        D: _nvtxw::Copy + 'static,
        T: _nvtxw::Copy + 'static,
        D::Value: _nvtxw::NvtxField,
        [T; N]: _nvtxw::NvtxField,
    {}
};
