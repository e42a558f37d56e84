//! The scopes that need no registration.

use crate::raw;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A scope that needs no registration.
    ///
    /// The `Current…` ones mean "where the traced code runs right now"; written after the fact,
    /// most of them can't be resolved.
    PredefinedScope: u64;
    /// No scope.
    None = raw::NVTX_SCOPE_NONE,
    /// The root of all scopes.
    Root = raw::NVTX_SCOPE_ROOT,
    /// The machine.
    CurrentHwMachine = raw::NVTX_SCOPE_CURRENT_HW_MACHINE,
    /// The processor socket.
    CurrentHwSocket = raw::NVTX_SCOPE_CURRENT_HW_SOCKET,
    /// The physical processor core.
    CurrentHwCpuPhysical = raw::NVTX_SCOPE_CURRENT_HW_CPU_PHYSICAL,
    /// The logical processor core.
    CurrentHwCpuLogical = raw::NVTX_SCOPE_CURRENT_HW_CPU_LOGICAL,
    /// The innermost hardware scope.
    CurrentHwInnermost = raw::NVTX_SCOPE_CURRENT_HW_INNERMOST,
    /// The hypervisor.
    CurrentHypervisor = raw::NVTX_SCOPE_CURRENT_HYPERVISOR,
    /// The virtual machine.
    CurrentVm = raw::NVTX_SCOPE_CURRENT_VM,
    /// The kernel.
    CurrentKernel = raw::NVTX_SCOPE_CURRENT_KERNEL,
    /// The container.
    CurrentContainer = raw::NVTX_SCOPE_CURRENT_CONTAINER,
    /// The operating system.
    CurrentOs = raw::NVTX_SCOPE_CURRENT_OS,
    /// The process.
    CurrentSwProcess = raw::NVTX_SCOPE_CURRENT_SW_PROCESS,
    /// The thread.
    CurrentSwThread = raw::NVTX_SCOPE_CURRENT_SW_THREAD,
    /// The innermost software scope.
    CurrentSwInnermost = raw::NVTX_SCOPE_CURRENT_SW_INNERMOST,
}

impl PredefinedScope {
    /// Whether a stream's or a counter's default scope may be this: it must not depend on where
    /// code runs.
    pub const fn is_stream_default(self) -> bool {
        matches!(self, Self::None | Self::Root)
    }

    /// Whether a registered scope may have this parent.
    pub const fn is_parent(self) -> bool {
        matches!(
            self,
            Self::None | Self::Root | Self::CurrentHwMachine | Self::CurrentVm
        )
    }
}

#[cfg(test)]
mod tests {
    use super::PredefinedScope;

    #[test]
    fn few_scopes_can_be_defaults_or_parents() {
        let defaults = PredefinedScope::ALL
            .iter()
            .filter(|scope| scope.is_stream_default());
        assert!(defaults.eq(&[PredefinedScope::None, PredefinedScope::Root]));
        let parents = PredefinedScope::ALL
            .iter()
            .filter(|scope| scope.is_parent());
        assert!(parents.eq(&[
            PredefinedScope::None,
            PredefinedScope::Root,
            PredefinedScope::CurrentHwMachine,
            PredefinedScope::CurrentVm,
        ]));
    }
}
