//! Categories.

use std::collections::{HashMap, HashSet};

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::id::CategoryId;
use crate::text;

/// The categories of a domain.
#[derive(Debug)]
pub(crate) struct Categories {
    ids: HashMap<Box<str>, CategoryId>,
    names: HashMap<u32, Box<str>>,
    /// Numbers that the program uses on its own.
    claimed: HashSet<u32>,
    /// No category below this is free.
    next: u32,
}

impl Categories {
    pub(crate) fn new() -> Self {
        Self {
            ids: HashMap::new(),
            names: HashMap::new(),
            claimed: HashSet::new(),
            next: 1,
        }
    }

    /// The lowest number that is neither named nor claimed.
    fn free(&mut self) -> u32 {
        while self.names.contains_key(&self.next) || self.claimed.contains(&self.next) {
            self.next += 1;
        }
        self.next
    }
}

impl Domain<'_> {
    /// Names a category and numbers it: from 1, around the numbers that [`category_at`](Domain::category_at) and
    /// [`claim_category`](Domain::claim_category) took.
    ///
    /// # Errors
    /// [`Error::InteriorNul`], or [`Error::Call`] if the backend refuses.
    pub fn category(&mut self, name: &str) -> Result<CategoryId> {
        let id = {
            let categories = &mut self.state.registered().categories;
            if let Some(&id) = categories.ids.get(name) {
                return Ok(id);
            }
            categories.free()
        };
        self.category_at(id, name)
    }

    /// Names the category of a number of your own: 1 or more.
    ///
    /// # Errors
    /// [`Error::Category`] if the number is 0 or has another name; [`Error::InteriorNul`]; [`Error::Call`] if the backend
    /// refuses.
    pub fn category_at(&mut self, id: u32, name: &str) -> Result<CategoryId> {
        let refuse = |problem: String| Error::Category {
            name: name.to_owned(),
            id,
            problem,
        };
        if id == 0 {
            return Err(refuse(
                "0 says that an event has no category; take 1 or more".to_owned(),
            ));
        }
        let categories = &mut self.state.registered().categories;
        match categories.names.get(&id) {
            Some(named) if **named == *name => return Ok(CategoryId::from_u32(id)),
            Some(named) => {
                return Err(refuse(format!(
                    "it is named `{named}` already; take another number"
                )));
            }
            None => {}
        }
        self.live
            .register_category(
                self.state.handle,
                id,
                &text::c_string(name, "category name")?,
            )
            .map_err(|refusal| refusal.of("register", self.object("category", name)))?;
        categories.names.insert(id, name.into());
        let id = CategoryId::from_u32(id);
        categories.ids.entry(name.into()).or_insert(id);
        Ok(id)
    }

    /// Says that the program uses a number as a category without a name, so that [`category`](Domain::category) doesn't
    /// give it to another one. No call; 0, no category, needs no claim.
    ///
    /// # Errors
    /// [`Error::CategoryTaken`] if [`category`](Domain::category) or [`category_at`](Domain::category_at) named the number
    /// before: claim your numbers first.
    pub fn claim_category(&mut self, id: u32) -> Result<CategoryId> {
        let categories = &mut self.state.registered().categories;
        if let Some(name) = categories.names.get(&id) {
            return Err(Error::CategoryTaken {
                id,
                name: name.to_string(),
            });
        }
        categories.claimed.insert(id);
        Ok(CategoryId::from_u32(id))
    }

    /// The name of a category of this domain, if it has one.
    #[must_use]
    pub fn category_name(&self, id: CategoryId) -> Option<String> {
        let categories = &self.state.registered().categories;
        categories.names.get(&id.to_u32()).map(ToString::to_string)
    }
}
