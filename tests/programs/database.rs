//! A database: queries whose text is met once, so that it goes with its batch.

use nvtxw::{Backend, FlexPool, FlexStr, NvtxEvent, Session, StreamOptions};

use crate::reader::text;
use crate::{Output, ranges};

#[derive(NvtxEvent, Clone, Copy)]
#[repr(C)]
#[nvtx(kind = range_startend)]
struct Query {
    #[nvtx(timestamp_start)]
    start: i64,
    #[nvtx(timestamp_end)]
    end: i64,
    #[nvtx(message, flex)]
    statement: FlexStr,
    #[nvtx(flex)]
    user: FlexStr,
    rows: u64,
}

#[test]
fn text_of_a_pool_is_in_the_file() -> nvtxw::Result<()> {
    let output = Output::new();
    let backend = Backend::embedded();
    let mut session = Session::begin(&backend, "queries", &output.config()?)?;
    let mut domain = session.default_domain()?;
    let (schema, domain) = (domain.schema::<Query>()?, domain.id());
    let mut stream = session.open_stream("server", StreamOptions::new(domain))?;
    let writer = session.writer(&mut stream)?;
    let queries = writer.events(schema)?;

    let mut pool = FlexPool::new();
    let user = pool.push("Zoë 한글");
    for round in 0..2 {
        let statement = pool.push(&format!("SELECT {round}"));
        let batch = [
            Query {
                start: 100 * round,
                end: 100 * round + 5,
                statement,
                user,
                rows: 1,
            },
            Query {
                start: 100 * round + 10,
                end: 100 * round + 15,
                statement: pool.push("COMMIT"),
                user: FlexStr::EMPTY,
                rows: 0,
            },
        ];
        queries.write_batch_flex(&batch, &pool)?;
    }
    session.end()?;

    let trace = output.read();
    assert_eq!(
        ranges(&trace, &["server"]),
        [
            ("SELECT 0", 0, 5),
            ("COMMIT", 10, 15),
            ("SELECT 1", 100, 105),
            ("COMMIT", 110, 115),
        ]
    );
    for range in &trace.ranges {
        let names: Vec<_> = range.args.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["user", "rows"], "the lengths are hidden");
        let user = if range.name == "COMMIT" {
            ""
        } else {
            "Zoë 한글"
        };
        assert_eq!(range.arg("user"), &text(user));
    }
    Ok(())
}
