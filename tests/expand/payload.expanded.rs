const _: () = {
    use ::nvtxw::__private as _nvtxw;
    /**A payload, `Inner` in traces.

| entry | type | |
|---|---|---|
| `pair` | `[T; 2]` |  |
| `count` | `u64` |  |
*/
    #[automatically_derived]
    unsafe impl<T> _nvtxw::NvtxPayload for Inner<T>
    where
        T: _nvtxw::Copy + 'static,
        [T; 2]: _nvtxw::NvtxField,
    {
        #[doc(hidden)]
        const SCHEMA: _nvtxw::SchemaTable = _nvtxw::SchemaTable {
            name: c"Inner",
            role: _nvtxw::SchemaRole::Generic,
            size: _nvtxw::size_of::<Self>(),
            pack_align: _nvtxw::Option::None,
            entries: &[
                _nvtxw::Entry::new(
                    c"pair",
                    <[T; 2] as _nvtxw::NvtxField>::PLAIN,
                    _nvtxw::offset_of!(Self, pair),
                ),
                _nvtxw::Entry::new(
                    c"count",
                    <u64 as _nvtxw::NvtxField>::PLAIN,
                    _nvtxw::offset_of!(Self, count),
                ),
            ],
        };
        #[doc(hidden)]
        const CHECK: () = {
            let _ = |_nvtxw_this: Self| {
                let Self { pair: _nvtxw_0, count: _nvtxw_1 } = _nvtxw_this;
                _nvtxw::tie::<[T; 2], _>(_nvtxw_0);
                _nvtxw::tie::<u64, _>(_nvtxw_1);
            };
            _nvtxw::Extent::new(
                    "pair",
                    0,
                    _nvtxw::offset_of!(Self, pair),
                    _nvtxw::size_of::<[T; 2]>(),
                )
                .assert_before("count", _nvtxw::offset_of!(Self, count));
            _nvtxw::Extent::new(
                    "count",
                    1,
                    _nvtxw::offset_of!(Self, count),
                    _nvtxw::size_of::<u64>(),
                )
                .assert_last(_nvtxw::size_of::<Self>());
        };
    }
    #[automatically_derived]
    unsafe impl<T> _nvtxw::NvtxField for Inner<T>
    where
        T: _nvtxw::Copy + 'static,
        [T; 2]: _nvtxw::NvtxField,
    {
        #[doc(hidden)]
        const TYPE: _nvtxw::FieldType = _nvtxw::FieldType::payload::<Self>();
    }
};
