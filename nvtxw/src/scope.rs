//! Scopes, and the text of their paths.

use std::borrow::Cow;

use nvtxw_abi::PredefinedScope;

use crate::calls::ScopeDefinition;
use crate::domain::Domain;
use crate::error::Result;
use crate::id::{Scope, ScopeId, ScopeParent, StaticId};
use crate::text;

impl Domain<'_> {
    /// Registers a scope below the root.
    ///
    /// The path's parts are separated by `/`; `engine[3]` is one of several siblings; `\` stands before a `/`, `[` or `]`
    /// that belongs to a name.
    ///
    /// # Errors
    /// [`Error::InteriorNul`](crate::Error::InteriorNul), or [`Error::Call`](crate::Error::Call) if the backend refuses.
    pub fn scope(&mut self, path: &str) -> Result<Scope> {
        self.scope_in(ScopeParent::Root, path)
    }

    /// Registers a scope below another one.
    ///
    /// # Errors
    /// As [`scope`](Domain::scope), and [`Error::Foreign`](crate::Error::Foreign) if the parent is a scope of another domain.
    pub fn scope_in(&mut self, parent: impl Into<ScopeParent>, path: &str) -> Result<Scope> {
        let parent = self.parent(parent.into(), path)?;
        let known = self.state.registered().scopes.id(&(parent, path.into()));
        match known {
            Some(id) => Ok(self.scope_of(id)),
            None => self.register_scope(parent, path, None),
        }
    }

    /// Registers a scope below another one under a number of your own, which `#[nvtx(scope)]` fields may hold.
    ///
    /// # Errors
    /// As [`scope_in`](Domain::scope_in), and [`Error::IdDiffers`](crate::Error::IdDiffers) if the path has a scope of another number already.
    pub fn scope_at(
        &mut self,
        id: StaticId,
        parent: impl Into<ScopeParent>,
        path: &str,
    ) -> Result<Scope> {
        let parent = self.parent(parent.into(), path)?;
        let known = self.state.registered().scopes.id(&(parent, path.into()));
        match known {
            Some(known) => {
                StaticId::same(Some(id), known.to_u64(), || format!("scope `{path}`"))?;
                Ok(self.scope_of(known))
            }
            None => self.register_scope(parent, path, Some(id)),
        }
    }

    fn parent(&self, parent: ScopeParent, path: &str) -> Result<u64> {
        match parent {
            ScopeParent::None => Ok(PredefinedScope::None.to_raw()),
            ScopeParent::Root => Ok(PredefinedScope::Root.to_raw()),
            ScopeParent::CurrentMachine => Ok(PredefinedScope::CurrentHwMachine.to_raw()),
            ScopeParent::CurrentVm => Ok(PredefinedScope::CurrentVm.to_raw()),
            ScopeParent::Scope(scope) => self.own(scope, || format!("scope `{path}` is for")),
        }
    }

    fn scope_of(&self, id: ScopeId) -> Scope {
        Scope {
            owner: self.state.owner,
            id,
        }
    }

    fn register_scope(&self, parent: u64, path: &str, id: Option<StaticId>) -> Result<Scope> {
        let definition = ScopeDefinition {
            path: &text::c_string(path, "scope path")?,
            parent,
            static_id: StaticId::raw(id),
        };
        let id = self
            .live
            .register_scope(self.state.handle, &definition)
            .map(ScopeId::from_u64)
            .map_err(|refusal| refusal.of("register", self.object("scope", path)))?;
        self.state
            .registered()
            .scopes
            .insert((parent, path.into()), id);
        Ok(self.scope_of(id))
    }
}

/// Writes a name as one part of a scope's path: `\` goes before each `/`, `[` and `]`.
///
/// Nothing can go before a `\` of the name's own, so that a part that ends in one has to be the last of its path: register
/// what goes below it with [`Domain::scope_in`](crate::Domain::scope_in).
///
/// ```
/// use nvtxw::escape_segment;
///
/// assert_eq!(format!("{}/queue", escape_segment("a/b [x]")), r"a\/b \[x\]/queue");
/// ```
#[must_use]
pub fn escape_segment(name: &str) -> Cow<'_, str> {
    const SPECIAL: [char; 3] = ['/', '[', ']'];
    if !name.contains(SPECIAL) {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if SPECIAL.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Cow::Owned(escaped)
}
