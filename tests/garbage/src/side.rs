//! A session that is ready to be written to.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use nvtxw_abi::raw::*;
use nvtxw_backend::StreamInfo;

use crate::table::{Answer, Table, answer, member};

/// A session, a domain and a stream in that.
pub struct Side {
    pub table: Rc<Table>,
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
    /// A session of its own, with the default domain.
    pub fn begin(table: Table, config: &CStr) -> Self {
        let table = Rc::new(table);
        let session = begin(&table, config);
        Self::in_domain(table, session, ptr::null())
    }

    fn in_domain(
        table: Rc<Table>,
        session: nvtxwSessionHandle_t,
        attr: *const nvtxwDomainAttributes_t,
    ) -> Self {
        let (mut domain, mut stream) = (ptr::null_mut(), ptr::null_mut());
        expect(&answer(None, || {
            member!(table, DomainRegister(session, attr, &mut domain))
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

fn begin(table: &Table, config: &CStr) -> nvtxwSessionHandle_t {
    let mut session = ptr::null_mut();
    let attr = nvtxwSessionAttributes_t {
        structSize: size_of::<nvtxwSessionAttributes_t>(),
        name: ptr::null(),
        configString: config.as_ptr(),
    };
    expect(&answer(None, || table.begin(&attr, &mut session)));
    session
}

/// A session of the collector for many runs, each of which has a domain and a stream of its own in it: beginning and ending
/// a session takes longer than what most inputs do.
pub struct Shared {
    table: Rc<Table>,
    session: nvtxwSessionHandle_t,
    runs: u64,
    /// Rejected calls of all runs.
    rejected: u64,
}

/// Runs of one session: what they register takes memory until it ends.
const RUNS: u64 = 256;

thread_local! {
    /// In process, and as a library.
    static SHARED: RefCell<[Option<Shared>; 2]> = const { RefCell::new([None, None]) };
}

impl Shared {
    /// Takes the session, or begins one.
    pub fn take(is_library: bool) -> Self {
        let shared = SHARED.with_borrow_mut(|shared| shared[usize::from(is_library)].take());
        shared.unwrap_or_else(|| {
            let table = match is_library {
                true => Table::of_collector(),
                false => Table::of_collector_in_process(),
            };
            Self {
                session: begin(&table, c""),
                table: Rc::new(table),
                runs: 0,
                rejected: 0,
            }
        })
    }

    /// A new domain and a stream.
    pub fn side(&self) -> Side {
        let name = CString::new(self.runs.to_string()).expect("no null");
        let attr = nvtxwDomainAttributes_t {
            structSize: size_of::<nvtxwDomainAttributes_t>(),
            name: name.as_ptr(),
        };
        Side::in_domain(Rc::clone(&self.table), self.session, &attr)
    }

    /// Closes the stream of a run, and ends the session after enough runs.
    pub fn give_back(mut self, side: &Side, rejected: u64) {
        expect(&answer(None, || {
            member!(side.table, StreamClose(side.stream))
        }));
        self.runs += 1;
        self.rejected += rejected;
        if self.runs < RUNS {
            let index = usize::from(self.table.is_library());
            SHARED.with_borrow_mut(|shared| shared[index] = Some(self));
            return;
        }
        let ended = answer(None, || member!(side.table, SessionEnd(self.session)));
        expect(&ended);
        // It was told of all calls that were rejected.
        assert_eq!(ended.reached.refusals.calls, self.rejected);
    }
}
