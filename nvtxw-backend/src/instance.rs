//! Backend instances.

use crate::backend::AnyBackend;
use crate::panic::catch;

/// A backend that sessions can begin on. It is finalised when its owner and its last session are gone.
pub(crate) struct Instance {
    backend: Option<Box<dyn AnyBackend>>,
}

impl Instance {
    pub(crate) fn new(backend: Box<dyn AnyBackend>) -> Self {
        Self {
            backend: Some(backend),
        }
    }

    pub(crate) fn backend(&self) -> &dyn AnyBackend {
        self.backend
            .as_deref()
            .expect("a backend goes with its instance")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let Some(backend) = self.backend.take() else {
            return;
        };
        // Nobody is left to tell that these failed.
        let _ = catch(|| backend.finalize_any());
        let _ = catch(|| drop(backend));
    }
}
