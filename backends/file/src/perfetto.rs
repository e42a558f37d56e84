//! The Perfetto trace format: a file of packets.

mod annotation;
mod encoder;
mod field;
mod packet;
mod plan;
mod quick;

pub(crate) use encoder::{Encoder, Half, Number};
pub(crate) use packet::{Header, Packets};
