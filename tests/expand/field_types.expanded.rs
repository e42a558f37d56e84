const _: () = {
    use ::nvtxw::__private as _nvtxw;
    #[automatically_derived]
    unsafe impl _nvtxw::NvtxField for Access {
        #[doc(hidden)]
        const TYPE: _nvtxw::FieldType = _nvtxw::FieldType::enumeration::<Access>();
    }
    #[automatically_derived]
    unsafe impl _nvtxw::NvtxEnum for Access {
        type Bits = _nvtxw::u8;
        #[doc(hidden)]
        const TABLE: _nvtxw::EnumTable = {
            let _ = |_nvtxw_this: Self| match _nvtxw_this {
                Access::Read | Access::Write => {}
            };
            _nvtxw::EnumTable {
                name: c"Access",
                size: _nvtxw::size_of::<Access>(),
                flags: true,
                values: &[
                    (
                        c"read it",
                        _nvtxw::EnumTable::value(
                            Access::Read as _nvtxw::i128,
                            _nvtxw::size_of::<Access>(),
                        ),
                    ),
                    (
                        c"Write",
                        _nvtxw::EnumTable::value(
                            Access::Write as _nvtxw::i128,
                            _nvtxw::size_of::<Access>(),
                        ),
                    ),
                ],
            }
        };
    }
    #[automatically_derived]
    impl _nvtxw::NvtxFlags for Access {
        #[inline]
        fn bits(self) -> _nvtxw::u8 {
            self as _nvtxw::u8
        }
    }
    #[automatically_derived]
    impl<NvtxwOther: _nvtxw::Into<_nvtxw::Flags<Access>>> _nvtxw::BitOr<NvtxwOther>
    for Access {
        type Output = _nvtxw::Flags<Access>;
        #[inline]
        fn bitor(self, other: NvtxwOther) -> _nvtxw::Flags<Access> {
            <_nvtxw::Flags<Access> as _nvtxw::From<Access>>::from(self) | other
        }
    }
    const _: _nvtxw::FieldType = _nvtxw::FieldType::enumeration::<Access>();
};
const _: () = {
    use ::nvtxw::__private as _nvtxw;
    #[automatically_derived]
    unsafe impl<T> _nvtxw::NvtxField for Ticks<T>
    where
        T: _nvtxw::Copy + 'static,
        T: _nvtxw::NvtxField,
    {
        #[doc(hidden)]
        const TYPE: _nvtxw::FieldType = {
            let _ = |_nvtxw_this: Self| {
                let Self { 0: _nvtxw_0 } = _nvtxw_this;
                _nvtxw::tie::<T, _>(_nvtxw_0);
            };
            _nvtxw::FieldType::newtype::<Self>(<T as _nvtxw::NvtxField>::TYPE)
        };
    }
    #[automatically_derived]
    unsafe impl<T> _nvtxw::Newtype for Ticks<T>
    where
        T: _nvtxw::Copy + 'static,
        T: _nvtxw::NvtxField,
    {
        type Inner = T;
    }
};
