const _: () = {
    use ::nvtxw::__private as _nvtxw;
    /**An event of kind `mark`, `Query` in traces.

| entry | type | |
|---|---|---|
| `time` | `i64` | timestamp |
| `text` | `FlexStr` | message |
| `user` | `FlexStr` |  |
| `code` | `[u8; 8]` |  |
*/
    #[automatically_derived]
    unsafe impl _nvtxw::NvtxEvent for Query {
        #[doc(hidden)]
        const SCHEMA: _nvtxw::SchemaTable = _nvtxw::SchemaTable {
            name: c"Query",
            role: _nvtxw::SchemaRole::Event(_nvtxw::EventKind::Mark),
            size: _nvtxw::size_of::<Query>(),
            pack_align: _nvtxw::Option::None,
            entries: &[
                _nvtxw::Entry::new(
                    c"time",
                    <i64 as _nvtxw::TimestampField>::MARK,
                    _nvtxw::offset_of!(Query, time),
                ),
                _nvtxw::Entry::flex(
                    _nvtxw::Entry::new(
                        c"text",
                        <FlexStr as _nvtxw::FlexField>::FLEX_MESSAGE,
                        _nvtxw::offset_of!(Query, text),
                    ),
                    c"text length",
                ),
                _nvtxw::Entry::flex(
                    _nvtxw::Entry::new(
                        c"user",
                        <FlexStr as _nvtxw::FlexField>::FLEX,
                        _nvtxw::offset_of!(Query, user),
                    ),
                    c"user length",
                ),
                _nvtxw::Entry::new(
                    c"code",
                    <[u8; 8] as _nvtxw::TextField>::TEXT,
                    _nvtxw::offset_of!(Query, code),
                ),
            ],
        };
        #[doc(hidden)]
        const CHECK: () = {
            let _ = |_nvtxw_this: Self| {
                let Self {
                    time: _nvtxw_0,
                    text: _nvtxw_1,
                    user: _nvtxw_2,
                    code: _nvtxw_3,
                } = _nvtxw_this;
                _nvtxw::tie::<i64, _>(_nvtxw_0);
                _nvtxw::tie::<FlexStr, _>(_nvtxw_1);
                _nvtxw::tie::<FlexStr, _>(_nvtxw_2);
                _nvtxw::tie::<[u8; 8], _>(_nvtxw_3);
            };
        };
        const KIND: _nvtxw::EventKind = _nvtxw::EventKind::Mark;
    }
    #[automatically_derived]
    impl _nvtxw::CompleteEvent for Query {}
    #[automatically_derived]
    impl _nvtxw::FlexEvent for Query {
        #[inline]
        fn fits(&self, pool: _nvtxw::usize) -> _nvtxw::bool {
            <FlexStr as _nvtxw::FlexField>::fits(self.text, pool)
                && <FlexStr as _nvtxw::FlexField>::fits(self.user, pool)
        }
    }
    const _: () = _nvtxw::Extent::new(
            "time",
            0,
            _nvtxw::offset_of!(Query, time),
            _nvtxw::size_of::<i64>(),
        )
        .assert_before("text", _nvtxw::offset_of!(Query, text));
    const _: () = _nvtxw::Extent::new(
            "text",
            1,
            _nvtxw::offset_of!(Query, text),
            _nvtxw::size_of::<FlexStr>(),
        )
        .assert_before("user", _nvtxw::offset_of!(Query, user));
    const _: () = _nvtxw::Extent::new(
            "user",
            2,
            _nvtxw::offset_of!(Query, user),
            _nvtxw::size_of::<FlexStr>(),
        )
        .assert_before("code", _nvtxw::offset_of!(Query, code));
    const _: () = _nvtxw::Extent::new(
            "code",
            3,
            _nvtxw::offset_of!(Query, code),
            _nvtxw::size_of::<[u8; 8]>(),
        )
        .assert_last(_nvtxw::size_of::<Query>());
};
