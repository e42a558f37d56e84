//! Scopes: the places where events and counters happen.

use core::ffi::c_char;

use crate::raw::definition::{constants, layout};

layout! {
    /// A scope to register.
    struct nvtxScopeAttr_t: size 32, align 8 {
        /// Bytes of this struct that the caller knows.
        structSize @ 0: usize,
        /// Path from the parent: nodes separated by `/`, `name[key]` for one of several siblings,
        /// `\` before a `/`, `[` or `]` that belongs to a name. Null and empty are the same.
        path @ 8: *const c_char,
        /// Where the path begins.
        parentScope @ 16: u64,
        /// A static ID that the producer picked; 0 lets the backend pick one.
        scopeId @ 24: u64,
    }
}

constants! { CONSTANTS: Int as i128;
    /// No scope.
    NVTX_SCOPE_NONE: u64 = 0;
    /// The root of all scopes.
    NVTX_SCOPE_ROOT: u64 = 1;
    /// The machine.
    NVTX_SCOPE_CURRENT_HW_MACHINE: u64 = 2;
    /// The processor socket.
    NVTX_SCOPE_CURRENT_HW_SOCKET: u64 = 3;
    /// The physical processor core.
    NVTX_SCOPE_CURRENT_HW_CPU_PHYSICAL: u64 = 4;
    /// The logical processor core.
    NVTX_SCOPE_CURRENT_HW_CPU_LOGICAL: u64 = 5;
    /// The innermost hardware scope.
    NVTX_SCOPE_CURRENT_HW_INNERMOST: u64 = 15;
    /// The hypervisor.
    NVTX_SCOPE_CURRENT_HYPERVISOR: u64 = 16;
    /// The virtual machine.
    NVTX_SCOPE_CURRENT_VM: u64 = 17;
    /// The kernel.
    NVTX_SCOPE_CURRENT_KERNEL: u64 = 18;
    /// The container.
    NVTX_SCOPE_CURRENT_CONTAINER: u64 = 19;
    /// The operating system.
    NVTX_SCOPE_CURRENT_OS: u64 = 20;
    /// The process.
    NVTX_SCOPE_CURRENT_SW_PROCESS: u64 = 21;
    /// The thread.
    NVTX_SCOPE_CURRENT_SW_THREAD: u64 = 22;
    /// The innermost software scope.
    NVTX_SCOPE_CURRENT_SW_INNERMOST: u64 = 31;
    /// The first ID that a producer may pick for a scope.
    NVTX_SCOPE_ID_STATIC_START: u64 = 1 << 24;
    /// The first ID that a backend picks for a scope.
    NVTX_SCOPE_ID_DYNAMIC_START: u64 = 1 << 32;
}
