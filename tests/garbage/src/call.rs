//! Calls with all of their arguments, and what they must answer.

use nvtxw_abi::raw::nvtxwResultCode_t;
use nvtxw_backend::ResultCode;

use crate::collector::Fate;
use crate::memory::Memory;
use crate::table::{Answer, Table, answer};
use crate::world::World;

/// What a call must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    Success,
    Invalid,
    Failed,
    /// Invalid or failed, by what is found first.
    Refused,
    /// A success or a refusal of the arguments: it depends on more than is known here.
    Any,
}

impl Expect {
    /// A success, if all of the arguments are good.
    pub fn if_good(is_good: bool) -> Self {
        match is_good {
            true => Self::Success,
            false => Self::Invalid,
        }
    }
}

type Run = dyn FnOnce(&Table) -> nvtxwResultCode_t;
type After = dyn FnOnce(&mut World, &Answer);

/// A call that is to be made.
pub struct Call {
    pub member: &'static str,
    pub expect: Expect,
    /// The stream that it is on, or the session that it ends; 0 for other calls.
    pub on: u64,
    run: Box<Run>,
    after: Box<After>,
    /// What its pointers point to.
    memory: Memory,
}

// SAFETY:
// - The pointers in a call lead to its own memory only, and handles are never followed.
unsafe impl Send for Call {}

/// A call that was made.
pub struct Made {
    member: &'static str,
    expect: Expect,
    answer: Answer,
    after: Box<After>,
    /// Results are still read from it.
    _memory: Memory,
}

// SAFETY:
// - As for the call that it was.
unsafe impl Send for Made {}

impl Call {
    /// `after` changes the world by what the call answered, after that was checked.
    pub fn new(
        member: &'static str,
        memory: Memory,
        expect: Expect,
        run: impl FnOnce(&Table) -> nvtxwResultCode_t + 'static,
        after: impl FnOnce(&mut World, &Answer) + 'static,
    ) -> Self {
        Self {
            member,
            expect,
            on: 0,
            run: Box::new(run),
            after: Box::new(after),
            memory,
        }
    }

    pub fn on(mut self, handle: u64) -> Self {
        self.on = handle;
        self
    }

    pub fn make(self, table: &Table, fate: Option<Fate>) -> Made {
        Made {
            member: self.member,
            expect: self.expect,
            answer: answer(fate, || (self.run)(table)),
            after: self.after,
            _memory: self.memory,
        }
    }
}

/// Whether a member may have data written.
fn writes(member: &str) -> bool {
    member.ends_with("Write") || matches!(member, "StreamClose" | "SessionEnd")
}

impl Made {
    pub fn member(&self) -> &'static str {
        self.member
    }

    /// Checks what a call answered that nothing disturbed.
    pub fn finish(self, world: &mut World) -> ResultCode {
        let may_be_late = !world.table.is_collector() && writes(self.member);
        let (code, member) = (self.answer.code, self.member);
        let is_right = match self.expect {
            _ if self.answer.reached.met_fate => code == ResultCode::FAILED,
            // The built-in backend may be unable to write something that came earlier.
            Expect::Success | Expect::Any if may_be_late && code == ResultCode::FAILED => true,
            Expect::Success => code == ResultCode::SUCCESS,
            Expect::Invalid => code == ResultCode::INVALID_ARGUMENT,
            Expect::Failed => code == ResultCode::FAILED,
            Expect::Refused => !code.is_success() && code != ResultCode::NOT_SUPPORTED,
            Expect::Any => code != ResultCode::FAILED,
        };
        assert!(
            is_right,
            "{member} answered {code}, expected {:?}: {}",
            self.expect, self.answer.reason
        );
        self.finish_disturbed(world)
    }

    /// The same for a call that another one may have come in the way of.
    pub fn finish_disturbed(self, world: &mut World) -> ResultCode {
        (self.after)(world, &self.answer);
        self.answer.code
    }
}
