//! What a file tells of the domains of its session.

mod schemas;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use nvtxw_backend::{CounterSemantics, Domain, Resource, ResourceType};

use crate::format::Told;

/// The domains that streams were opened in.
#[derive(Default)]
pub(crate) struct Domains(Mutex<BTreeMap<u32, Arc<Domain>>>);

impl Domains {
    pub(crate) fn note(&self, domain: &Arc<Domain>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(domain.index())
            .or_insert_with(|| Arc::clone(domain));
    }

    /// Their names, and the schemas and resources that are registered there, by the names of attributes.
    pub(crate) fn facts(&self) -> Vec<(String, Told)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut facts = Vec::new();
        let named = all.values().filter_map(|domain| domain.name());
        for (name, number) in named.zip(0..) {
            let name = Told::Text(name.to_owned());
            facts.push((format!("nvtxw.domain.{number}"), name));
        }
        let mut schemas = 0;
        for domain in all.values() {
            schemas::tell(domain, &mut schemas, &mut facts);
        }
        let resources = all.values().flat_map(|domain| {
            let of_domain = move |resource| (&**domain, resource);
            domain.resources().into_iter().map(of_domain)
        });
        for ((domain, resource), number) in resources.zip(0..) {
            tell(
                &resource,
                domain,
                &format!("nvtxw.resource.{number}"),
                &mut facts,
            );
        }
        facts
    }
}

fn tell(resource: &Resource, domain: &Domain, key: &str, facts: &mut Vec<(String, Told)>) {
    let mut tell = |what: &str, value| facts.push((format!("{key}{what}"), value));
    tell(
        "",
        Told::Text(resource.name().unwrap_or_default().to_owned()),
    );
    let kind = match ResourceType::from_raw(resource.kind()) {
        Some(ResourceType::Unknown) => "unknown".to_owned(),
        Some(ResourceType::Pointer) => "pointer".to_owned(),
        Some(ResourceType::Handle) => "handle".to_owned(),
        Some(ResourceType::NativeThread) => "native thread".to_owned(),
        Some(ResourceType::PosixThread) => "POSIX thread".to_owned(),
        None => format!("{:#x}", resource.kind()),
    };
    tell(".type", Told::Text(kind));
    let identifier = resource.identifier();
    let is_address = resource.kind() == ResourceType::Pointer.to_raw();
    tell(
        ".identifier",
        match i64::try_from(identifier) {
            Ok(identifier) if !is_address => Told::Number(identifier),
            _ => Told::Text(format!("{identifier:#x}")),
        },
    );
    if let Some(name) = domain.name() {
        tell(".domain", Told::Text(name.to_owned()));
    }
}

/// What makes a field's numbers numbers of its unit, unless they are: the file has them as they were written.
pub(crate) fn scale(semantics: &CounterSemantics) -> Option<String> {
    match semantics.scale() {
        (1, 1) => None,
        (by, 1) => Some(by.to_string()),
        (by, divided) => Some(format!("{by}/{divided}")),
    }
}
