//! A session that is ready to be written to.

use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::StreamInfo;

use crate::table::{Answer, Table, answer, member};

/// A session, its default domain and a stream in that.
pub struct Side {
    pub table: Table,
    pub session: nvtxwSessionHandle_t,
    pub domain: nvtxDomainHandle_t,
    pub stream: nvtxwStreamHandle_t,
    /// What the collector knows of the stream.
    pub info: Option<Arc<StreamInfo>>,
}

/// That a call succeeded.
#[track_caller]
pub fn expect(answer: &Answer) {
    assert!(answer.is_success(), "{}: {}", answer.code, answer.reason);
}

impl Side {
    pub fn begin(table: Table, config: &CStr) -> Self {
        let attr = nvtxwSessionAttributes_t {
            structSize: size_of::<nvtxwSessionAttributes_t>(),
            name: ptr::null(),
            configString: config.as_ptr(),
        };
        let (mut session, mut domain, mut stream) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        expect(&answer(None, || table.begin(&attr, &mut session)));
        expect(&answer(None, || {
            member!(table, DomainRegister(session, ptr::null(), &mut domain))
        }));
        let attr = nvtxwStreamAttributes_t {
            structSize: size_of::<nvtxwStreamAttributes_t>(),
            name: ptr::null(),
            domain,
            scopeId: 0,
            timeDomainId: 0,
            orderInterleaving: 0,
            orderingType: 0,
            orderingSkid: 0,
            orderingSkidAmount: 0,
        };
        let mut opened = answer(None, || {
            member!(table, StreamOpen(session, &attr, &mut stream))
        });
        expect(&opened);
        Self {
            table,
            session,
            domain,
            stream,
            info: opened.reached.opened.pop(),
        }
    }

    pub fn end(self) -> Answer {
        answer(None, || member!(self.table, SessionEnd(self.session)))
    }
}
