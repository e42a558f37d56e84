use std::borrow::Cow;

use nvtxw::{Domain, RecordRow, ResourceId, Writer};

fn messages(out: &Writer<'_>, text: String, cow: Cow<'_, str>) {
    let _ = out.mark(1).message(&text).write();
    let _ = out.mark(1).message(&*cow).write();
    let _ = out.mark(1).message(text).write();
    let _ = out.mark(1).message(format!("{}", 7)).write();
    let _ = out.mark(1).message(&cow).write();
    let _ = out.mark(1).message(cow).write();
    let _ = out.mark(1).message(7).write();
}

fn names(domain: &mut Domain<'_>, name: String, cow: Cow<'_, str>) {
    let _ = domain.resource(ResourceId::NativeThread(1), name);
    let _ = domain.string(cow);
}

fn cells(row: &mut RecordRow, text: String) {
    let _ = row.set(0, 7_i64);
    let _ = row.set(0, "text");
    let _ = row.set(0, text);
}

fn main() {}
