//! The instance of an exported library: made, finalised and made again.

use std::sync::Arc;

use nvtxw_loom::{lazy_static, model};

use super::both;
use super::session::MockSession;
use crate::backend::Backend;
use crate::raw::Library;
use crate::refusal::Result;
use crate::session::SessionRequest;
use crate::sync::atomic::{AtomicUsize, Ordering};

lazy_static! {
    static ref MADE: AtomicUsize = AtomicUsize::new(0);
    static ref FINALISED: AtomicUsize = AtomicUsize::new(0);
}

struct Counted;

impl Backend for Counted {
    type Session = MockSession;

    fn begin(&self, _: &SessionRequest<'_>) -> Result<MockSession> {
        Ok(MockSession)
    }

    fn finalize(&self) {
        FINALISED.fetch_add(1, Ordering::Relaxed);
    }
}

fn library() -> Arc<Library> {
    Arc::new(Library::new(|| {
        MADE.fetch_add(1, Ordering::Relaxed);
        Box::new(Counted)
    }))
}

#[test]
fn two_first_users_share_one_instance() {
    model([], |[]| {
        let library = library();
        let (one, other) = both(
            &library,
            |library| library.instance().expect("no panic"),
            |library| library.instance().expect("no panic"),
        );
        assert!(Arc::ptr_eq(&one, &other));
        // One that came too late may be gone already.
        let gone = MADE.load(Ordering::Relaxed) - 1;
        assert_eq!(FINALISED.load(Ordering::Relaxed), gone);
        drop((one, other));
        library.finalize();
        assert_eq!(FINALISED.load(Ordering::Relaxed), gone + 1);
    });
}

#[test]
fn an_instance_is_finalised_once_and_under_nobody() {
    model([], |[]| {
        let library = library();
        let used = library.instance().expect("no panic");
        let (_, again) = both(&library, Library::finalize, |library| {
            library.instance().expect("no panic")
        });
        let finalised = FINALISED.load(Ordering::Relaxed);
        assert_eq!(finalised, 0, "both are still used");
        let made = if Arc::ptr_eq(&used, &again) { 1 } else { 2 };
        assert_eq!(MADE.load(Ordering::Relaxed), made);
        drop((used, again));
        library.finalize();
        assert_eq!(FINALISED.load(Ordering::Relaxed), made);
    });
}
