//! Calls as the producer made them, for backends that record them, check them or pass them on.
//!
//! Most backends need nothing of this: what [`Stream`](crate::Stream) gets is checked and decoded. A backend that does get
//! registrations by [`Session::note_registration`](crate::Session::note_registration), the bytes of writes by
//! [`Stream::take_event`](crate::Stream::take_event), [`EventBatch::call`](crate::EventBatch::call),
//! [`CounterBatch::call`](crate::CounterBatch::call) and [`TimeRelation::call`](crate::TimeRelation::call), and what was refused
//! by [`Session::note_refusal`](crate::Session::note_refusal).
//!
//! Numbers are as the producer gave them: flags with all their bits, IDs as they are in payloads. Text is what was before the
//! null. Of a struct that may be of several sizes there is what today's has; what a shorter one lacks is 0.

mod memory;
mod registration;
mod write;

pub use self::memory::{Memory, Piece, Pointer};
pub use self::registration::{
    CounterAttributes, EntryAttributes, EnumAttributes, EnumValue, Message, Registration,
    ResourceAttributes, SchemaAttributes, ScopeAttributes, Semantic, SemanticNode,
    StreamAttributes, TimeDomainAttributes,
};
pub use self::write::{
    CounterBatchCall, CounterCall, EventBatchCall, EventCall, FlexData, PayloadBytes, Pointees,
    WriteCall,
};
