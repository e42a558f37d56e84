//! Registers what a case names, and opens its streams.

use std::ffi::CString;
use std::ptr;

use nvtxw_abi::EntryType;
use nvtxw_abi::raw::*;
use serde_json::{Map, Value};

use crate::arena::{Arena, MEANING};
use crate::case::{Line, check_keys};
use crate::payload::{Entry, Extent, Layout, Type};
use crate::program::{Outcome, Program, call, constant};

/// The number of the constant that an option names; 0 without it.
fn optional(prefix: &str, name: &Value) -> u64 {
    name.as_str().map_or(0, |name| constant(prefix, name))
}

impl Program {
    /// The domain with this name, which is registered if it is new.
    pub fn domain(&mut self, name: &str) -> nvtxDomainHandle_t {
        if let Some(&domain) = self.domains.get(name) {
            return domain;
        }
        let text = CString::new(name).unwrap();
        let attr = nvtxwDomainAttributes_t {
            structSize: size_of::<nvtxwDomainAttributes_t>(),
            name: text.as_ptr(),
        };
        let mut domain = ptr::null_mut();
        call!(self, DomainRegister(self.session, &attr, &mut domain)).unwrap();
        self.domains.insert(name.to_owned(), domain);
        domain
    }

    pub fn domain_of(&mut self, line: &Line) -> nvtxDomainHandle_t {
        self.domain(line.option("domain").as_str().unwrap_or_default())
    }

    pub fn resource(&mut self, line: &Line) -> Outcome {
        let (domain, name) = (self.domain_of(line), CString::new(line.text(2)).unwrap());
        let attr = nvtxResourceAttributes_t {
            version: NVTX_VERSION,
            size: NVTX_RESOURCE_ATTRIB_STRUCT_SIZE,
            identifierType: constant("NVTX_RESOURCE_TYPE_", line.text(0)) as i32,
            identifier: nvtxResourceIdentifier_t {
                ullValue: line.any(1).as_u64().unwrap(),
            },
            messageType: NVTX_MESSAGE_TYPE_ASCII,
            message: nvtxMessageValue_t {
                ascii: name.as_ptr(),
            },
        };
        call!(self, ResourceRegister(domain, &attr))
    }

    pub fn scope(&mut self, line: &Line) -> Outcome {
        let (domain, path) = (self.domain_of(line), CString::new(line.text(1)).unwrap());
        let parent = line.option("parent").as_str().unwrap_or("ROOT");
        let attr = nvtxScopeAttr_t {
            structSize: size_of::<nvtxScopeAttr_t>(),
            path: path.as_ptr(),
            parentScope: self.id(parent),
            scopeId: 0,
        };
        let mut id = 0;
        call!(self, ScopeRegister(domain, &attr, &mut id))?;
        self.ids.insert(line.text(0).to_owned(), id);
        Ok(())
    }

    pub fn time_domain(&mut self, line: &Line) -> Outcome {
        let domain = self.domain_of(line);
        let attr = nvtxTimeDomainAttr_t {
            scopeId: line
                .option("scope")
                .as_str()
                .map_or(0, |name| self.id(name)),
            timestampTypeId: optional("NVTX_TIMESTAMP_TYPE_", line.option("type")),
            timeDomainId: 0,
            timerFlags: 0,
            timerResolution: line.option("ticks_per_second").as_i64().unwrap_or(0),
            timerStart: optional("NVTX_TIMER_START_", line.option("start")),
        };
        let mut id = 0;
        call!(self, TimeDomainRegister(domain, &attr, &mut id))?;
        self.ids.insert(line.text(0).to_owned(), id);
        Ok(())
    }

    pub fn enumeration(&mut self, line: &Line) -> Outcome {
        let domain = self.domain_of(line);
        let mut arena = Arena::default();
        let values = line.list(2).iter().map(|value| nvtxPayloadEnum_t {
            name: arena.text(value[0].as_str().unwrap()),
            value: value[1].as_u64().unwrap(),
            isFlag: (value[2] == "flag").into(),
        });
        let values: Vec<_> = values.collect();
        let size = line.int(1) as usize;
        let attr = nvtxPayloadEnumAttr_t {
            fieldMask: NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES
                | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
            name: ptr::null(),
            entries: values.as_ptr(),
            numEntries: values.len(),
            sizeOfEnum: size,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        call!(self, EnumRegister(domain, &attr, &mut id))?;
        self.types
            .insert(line.text(0).to_owned(), (id, Type::Enum(size)));
        Ok(())
    }

    /// A type that was registered, or one that the ABI has.
    pub fn ty(&self, name: &str) -> (u64, Type) {
        if let Some(known) = self.types.get(name) {
            return known.clone();
        }
        let ty = EntryType::ALL.iter().find(|ty| ty.name() == name);
        let ty = *ty.unwrap_or_else(|| panic!("`{name}` is no type"));
        (ty.to_raw(), Type::Scalar(ty))
    }

    pub fn schema(&mut self, line: &Line) -> Outcome {
        let domain = self.domain_of(line);
        let mut arena = Arena::default();
        let mut layout = Layout {
            entries: Vec::new(),
            is_static: line.option("type").is_null(),
            is_union: line
                .option("type")
                .as_str()
                .is_some_and(|ty| ty.starts_with("UNION")),
            pack: line.option("pack").as_u64().unwrap_or(0) as usize,
            size: line.option("size").as_u64().unwrap_or(0) as usize,
        };
        let mut entries = Vec::new();
        for entry in line.lists(2) {
            let (laid_out, described) = self.entry(entry, &mut arena);
            layout.entries.push(laid_out);
            entries.push(described);
        }
        let role = match line.text(1) {
            "" => 0,
            role => constant("NVTX_PAYLOAD_SCHEMA_FLAG_", role),
        };
        let name = line.option("name").as_str().unwrap_or(line.text(0));
        let mut mask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
            | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
        for (given, field) in [
            (
                line.option("name") != "",
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME,
            ),
            (layout.is_static, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE),
            (layout.pack != 0, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT),
        ] {
            mask |= if given { field } else { 0 };
        }
        let attr = nvtxPayloadSchemaAttr_t {
            fieldMask: mask,
            name: arena.text(name),
            r#type: constant(
                "NVTX_PAYLOAD_SCHEMA_TYPE_",
                line.option("type").as_str().unwrap_or("STATIC"),
            ),
            flags: role,
            entries: entries.as_ptr(),
            numEntries: entries.len(),
            payloadStaticSize: layout.size(),
            packAlign: layout.pack,
            schemaId: 0,
            extension: ptr::null_mut(),
        };
        let mut id = 0;
        call!(self, SchemaRegister(domain, &attr, &mut id))?;
        self.types
            .insert(line.text(0).to_owned(), (id, Type::Struct(layout)));
        Ok(())
    }

    /// An entry: its name, its type and options.
    fn entry(&self, entry: &Value, arena: &mut Arena) -> (Entry, nvtxPayloadSchemaEntry_t) {
        const KEYS: &[&str] = &[
            "array",
            "chars",
            "selector",
            "size",
            "at",
            "flags",
            "hide",
            "description",
        ];
        let no_options = Map::new();
        let options = entry[2].as_object().unwrap_or(&no_options);
        check_keys(options, &[KEYS, MEANING], entry);
        let get = |key: &str| options.get(key).unwrap_or(&Value::Null);

        let (role, ty) = match entry[1].as_str().unwrap() {
            "time" => (&["TIMESTAMP", "MARK"][..], "int64"),
            "begin" => (&["TIMESTAMP", "RANGE_BEGIN"][..], "int64"),
            "end" => (&["TIMESTAMP", "RANGE_END"][..], "int64"),
            "sampled" => (&["TIMESTAMP"][..], "int64"),
            "message" => (&["EVENT_MESSAGE"][..], "nvtx_registered_string_handle"),
            ty => (&[][..], ty),
        };
        let more = get("flags")
            .as_array()
            .into_iter()
            .flatten()
            .map(|flag| flag.as_str().unwrap());
        let names = role
            .iter()
            .copied()
            .chain(more)
            .chain(options.contains_key("hide").then_some("HIDE"));
        let mut flags = names
            .map(|name| constant("NVTX_PAYLOAD_ENTRY_FLAG_", name))
            .sum();
        let (extent, style, detail) = match (get("array"), get("chars").as_u64()) {
            (_, Some(count)) => (Extent::Fixed(count as usize), 0, count),
            (Value::Number(count), None) => {
                let count = count.as_u64().unwrap();
                (
                    Extent::Fixed(count as usize),
                    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
                    count,
                )
            }
            (Value::String(zero), None) if zero == "zero" => (
                Extent::Zero,
                NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
                0,
            ),
            (Value::Object(length), None) => match (length.get("entry"), length.get("payload")) {
                (Some(index), _) => (
                    Extent::Elsewhere,
                    NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
                    index.as_u64().unwrap(),
                ),
                (None, index) => {
                    let index = index.unwrap_or_else(|| panic!("{entry}: whose length?"));
                    (
                        Extent::Elsewhere,
                        NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
                        index.as_u64().unwrap(),
                    )
                }
            },
            (Value::Null, None) => (
                Extent::One,
                0,
                get("selector")
                    .as_u64()
                    .or(get("size").as_u64())
                    .unwrap_or(0),
            ),
            _ => panic!("{entry}: no such array"),
        };
        flags |= style;
        let (id, ty) = self.ty(ty);
        let name = entry[0].as_str().unwrap();
        let at = get("at").as_u64();
        let described = nvtxPayloadSchemaEntry_t {
            flags,
            r#type: id,
            name: arena.text(name),
            description: arena.optional_text(get("description")),
            arrayOrUnionDetail: detail,
            offset: at.unwrap_or(0),
            semantics: arena.semantics(options, |name| self.clock(name)),
            reserved: ptr::null(),
        };
        let references = NVTX_PAYLOAD_ENTRY_FLAG_POINTER
            | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE
            | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;
        let laid_out = Entry {
            name: name.to_owned(),
            ty,
            extent,
            at: at.map(|at| at as usize),
            refers: flags & references != 0,
        };
        (laid_out, described)
    }

    pub fn counter(&mut self, line: &Line) -> Outcome {
        let domain = self.domain_of(line);
        let mut arena = Arena::default();
        let (id, ty) = self.ty(line.text(1));
        let no_options = Map::new();
        let attr = nvtxCounterAttr_t {
            structSize: size_of::<nvtxCounterAttr_t>(),
            schemaId: id,
            name: arena.text(line.option("name").as_str().unwrap_or(line.text(0))),
            description: arena.optional_text(line.option("description")),
            scopeId: line
                .option("scope")
                .as_str()
                .map_or(0, |name| self.id(name)),
            semantics: arena.semantics(line.options().unwrap_or(&no_options), |name| {
                self.clock(name)
            }),
            counterId: 0,
        };
        let mut id = 0;
        call!(self, CounterRegister(domain, &attr, &mut id))?;
        self.ids.insert(line.text(0).to_owned(), id);
        self.samples.insert(line.text(0).to_owned(), ty);
        Ok(())
    }

    pub fn open(&mut self, line: &Line) -> Outcome {
        let (domain, name) = (self.domain_of(line), CString::new(line.text(0)).unwrap());
        let attr = nvtxwStreamAttributes_t {
            structSize: size_of::<nvtxwStreamAttributes_t>(),
            name: name.as_ptr(),
            domain,
            scopeId: line
                .option("scope")
                .as_str()
                .map_or(0, |name| self.id(name)),
            timeDomainId: line
                .option("clock")
                .as_str()
                .map_or(0, |name| self.clock(name)),
            orderInterleaving: optional(
                "NVTXW_STREAM_ORDER_INTERLEAVING_",
                line.option("interleaving"),
            ) as i16,
            orderingType: optional("NVTXW_STREAM_ORDERING_TYPE_", line.option("ordering")) as i16,
            orderingSkid: optional("NVTXW_STREAM_ORDERING_SKID_", &line.option("skid")[0]) as i32,
            orderingSkidAmount: line.option("skid")[1].as_i64().unwrap_or(0),
        };
        let mut stream = ptr::null_mut();
        call!(self, StreamOpen(self.session, &attr, &mut stream))?;
        let domain = line
            .option("domain")
            .as_str()
            .unwrap_or_default()
            .to_owned();
        self.streams
            .insert(line.text(0).to_owned(), (stream, domain));
        Ok(())
    }
}
