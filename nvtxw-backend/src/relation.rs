//! Relations between time domains.

use std::fmt;

use crate::call::WriteCall;
use crate::domain::Domain;
use crate::refusal::{Cause, IdKind, Refusal, Result};
use crate::scalar::read;

/// How the timestamps of two time domains relate. Each domain is a [`TimestampType`](crate::TimestampType) or a registered
/// [time domain](Domain::time_domain).
#[derive(Clone, Copy, Debug)]
pub struct TimeRelation<'a> {
    source: u64,
    destination: u64,
    kind: RelationKind<'a>,
    /// Whether it came as one point, not as a table.
    is_point: bool,
}

/// What is known of a [`TimeRelation`].
#[derive(Clone, Copy, Debug)]
pub enum RelationKind<'a> {
    /// Instants that both domains have a timestamp of.
    Points(SyncPoints<'a>),
    /// A straight line.
    Linear {
        /// Ticks of the destination for each one of the source: positive and finite.
        slope: f64,
        /// A timestamp of the source.
        source: i64,
        /// The timestamp of the same instant in the destination.
        destination: i64,
    },
}

/// Timestamps of the same instants in two time domains.
#[derive(Clone, Copy)]
pub struct SyncPoints<'a>(&'a [u8]);

/// Bytes of one sync point.
const POINT: usize = size_of::<[i64; 2]>();

impl<'a> SyncPoints<'a> {
    /// Points of 16 bytes each: the timestamp in the source, then the one in the destination. What is left over is no point.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(&bytes[..bytes.len() - bytes.len() % POINT])
    }

    /// The same bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// For each instant the timestamp in the source and the one in the destination.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (i64, i64)> + use<'a> {
        let points = self.0.chunks_exact(POINT);
        points.map(|point| (read(point, 0), read(point, size_of::<i64>())))
    }
}

impl fmt::Debug for SyncPoints<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> TimeRelation<'a> {
    pub(crate) fn points(source: u64, destination: u64, points: SyncPoints<'a>) -> Self {
        Self {
            source,
            destination,
            kind: RelationKind::Points(points),
            is_point: false,
        }
    }

    /// The point is one of 16 bytes.
    pub(crate) fn point(source: u64, destination: u64, point: SyncPoints<'a>) -> Self {
        Self {
            is_point: true,
            ..Self::points(source, destination, point)
        }
    }

    pub(crate) fn linear(source: u64, destination: u64, slope: f64, at: (i64, i64)) -> Self {
        Self {
            source,
            destination,
            kind: RelationKind::Linear {
                slope,
                source: at.0,
                destination: at.1,
            },
            is_point: false,
        }
    }

    /// The call that says it.
    pub fn call(&self) -> WriteCall<'a> {
        let time_domains = (self.source, self.destination);
        match self.kind {
            RelationKind::Points(points) => match points.iter().next() {
                Some(times) if self.is_point => WriteCall::SyncPoint {
                    time_domains,
                    times,
                },
                _ => WriteCall::SyncPoints {
                    time_domains,
                    points,
                },
            },
            RelationKind::Linear {
                slope,
                source,
                destination,
            } => WriteCall::Conversion {
                time_domains,
                slope,
                times: (source, destination),
            },
        }
    }

    /// One of the time domains.
    pub fn source(&self) -> u64 {
        self.source
    }

    /// The other one.
    pub fn destination(&self) -> u64 {
        self.destination
    }

    /// What is known.
    pub fn kind(&self) -> RelationKind<'a> {
        self.kind
    }

    /// Refuses what says nothing about two time domains of this domain.
    pub(crate) fn check(&self, domain: &Domain) -> Result<()> {
        for id in [self.source, self.destination] {
            if !domain.knows_time_domain(id) {
                return Err(Refusal::invalid(format!(
                    "{id} is neither a timestamp type nor a time domain of the stream's domain: register it there"
                ))
                .because(Cause::Unregistered(IdKind::TimeDomain, id)));
            }
        }
        match self.kind {
            RelationKind::Linear { slope, .. } if !(slope.is_finite() && slope > 0.0) => {
                Err(Refusal::invalid(format!(
                    "slope is {slope}; ticks of the destination for each tick of the source are a positive number"
                )))
            }
            _ => Ok(()),
        }
    }
}
