//! The measured loops, through `nvtxw`.

use nvtxw::{CounterWriter, EventWriter, RegisteredString, WriteError, Writer};

use crate::cases::{Kernel, Mark, Range, Sample};
use crate::place::place;

#[inline(never)]
pub fn write_batch<const PLACE: usize>(
    out: &EventWriter<'_, Kernel>,
    batches: &[&[Kernel]],
) -> Result<(), WriteError> {
    place::<PLACE>();
    for batch in batches {
        out.write_batch(batch)?;
    }
    Ok(())
}

#[inline(never)]
pub fn write<const PLACE: usize>(
    out: &EventWriter<'_, Kernel>,
    events: &[Kernel],
) -> Result<(), WriteError> {
    place::<PLACE>();
    for event in events {
        out.write(event)?;
    }
    Ok(())
}

#[inline(never)]
pub fn mark<const PLACE: usize>(out: &Writer<'_>, marks: &[Mark]) -> Result<(), WriteError> {
    place::<PLACE>();
    for mark in marks {
        out.mark(mark.time).message(mark.text).write()?;
    }
    Ok(())
}

#[inline(never)]
pub fn pushpop<const PLACE: usize>(
    out: &Writer<'_>,
    name: RegisteredString,
    ranges: &[Range],
) -> Result<(), WriteError> {
    place::<PLACE>();
    for range in ranges {
        out.pushpop(range.start, range.end).message(name).write()?;
    }
    Ok(())
}

#[inline(never)]
pub fn sample<const PLACE: usize>(
    out: &CounterWriter<'_, f64>,
    samples: &[Sample],
) -> Result<(), WriteError> {
    place::<PLACE>();
    for sample in samples {
        out.sample(sample.time, f64::from(sample.level))?;
    }
    Ok(())
}
