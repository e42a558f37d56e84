//! A folder of tables, with the partitions of a session in it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{self, Path, PathBuf};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arrow_schema::Schema;
use nvtxw_backend::{Refusal, Result};

use super::partition::{partition, table};
use super::table::OpenPart;
use crate::config::PartLimits;
use crate::destination::Destination;
use crate::intern::hash;
use crate::open_files;
use crate::sink::is_same;

pub(super) const EVENTS: &str = "events";
pub(super) const COUNTERS: &str = "counters";
pub(super) const METADATA: &str = "metadata";
/// What is before the tables of ranges that are open.
pub(super) const OPEN: &str = "open/";
/// The folder of the tables of schemas.
pub(super) const TYPED: &str = "typed";

/// What partitions are by: names that no field of a schema is likely to have.
const SESSION: &str = "nvtxw_session";
pub(super) const STREAM: &str = "nvtxw_stream";

/// The file by which a session holds its share; readers pass over it.
const LOCK: &str = ".lock";

/// What the row groups of all parts that are open may take together, about.
pub(super) const MEMORY: usize = 64 << 20;

/// How many parts may stay open.
const OPEN_PARTS: usize = 128;

/// How often a folder is made again that others remove meanwhile.
const ATTEMPTS: usize = 16;

/// A session's share of a folder of tables.
pub(super) struct Dataset {
    root: PathBuf,
    /// The folder that each table has for this session.
    session: String,
    pub(super) limits: PartLimits,
    /// Held as long as the session lives.
    lock: File,
    /// The one that began the session; a forked child must not write.
    process: u32,
    /// The columns of the tables of schemas, by the tables' names, as hashes.
    tables: Mutex<HashMap<String, u64>>,
    /// Bytes of all row groups that are in the making.
    memory: AtomicUsize,
    /// Counts writes, to find the part that was used least recently.
    clock: AtomicU64,
    open: Mutex<OpenParts>,
}

/// The parts that are open.
struct OpenParts {
    // A part belongs to its table: of one that is dropped nothing stays here.
    parts: Vec<Weak<OpenPart>>,
    /// How many may stay open.
    most: usize,
}

/// Folders and files that were not there before a session. They go when it is dropped, unless the session has begun.
#[derive(Default)]
pub(super) struct Made(Vec<PathBuf>);

impl Made {
    pub(super) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // What others put into a folder meanwhile stays.
        for path in self.0.iter().rev() {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
    }
}

impl Dataset {
    /// Also returns what there was not before.
    pub(super) fn create(
        destination: &mut Destination,
        session: &str,
        limits: PartLimits,
    ) -> Result<(Self, Made)> {
        let overwrite = destination.overwrites();
        let is_numbered = destination.is_numbered();
        let session = partition(SESSION, session);
        let created = destination.create(|root| match is_numbered {
            true => fs::create_dir(root).map(|()| true),
            false => make_folder(root),
        });
        let root = destination.path();
        let is_new = created.map_err(|error| {
            let unusable = destination.name_error(&error);
            unusable.unwrap_or_else(|| create_error(root, &error))
        })?;
        // Wherever the process is later.
        let root = path::absolute(root).unwrap_or(root.to_owned());
        let mut made = Made::default();
        if is_new {
            made.0.push(root.clone());
        }
        let mut make = |folder: &Path| {
            let is_new = make_folder(folder).map_err(|error| create_error(folder, &error))?;
            if is_new {
                made.0.push(folder.to_owned());
            }
            Ok::<_, Refusal>(is_new)
        };
        let metadata = root.join(METADATA);
        make(&metadata)?;
        let own = metadata.join(&session);
        let is_new = make(&own)?;
        if !is_new && !overwrite {
            return Err(Refusal::failed(format!(
                "{} exists: the dataset has this session already; give this one another name, or set \
                 `overwrite=true` to replace it",
                own.display()
            )));
        }
        let lock = own.join(LOCK);
        let (file, is_new_lock) = match take_lock(&lock) {
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // The new file here is the one that the other process holds.
                made.keep();
                return Err(Refusal::failed(format!(
                    "{} is being written by another session: give each session a name of its own",
                    own.display()
                )));
            }
            Err(error) => return Err(create_error(&lock, &error)),
        };
        if is_new_lock {
            made.0.push(lock);
        }
        if !is_new {
            remove(&root, &session).map_err(|error| {
                Refusal::failed(format!(
                    "can't replace {}: {}",
                    own.display(),
                    open_files::describe(&error)
                ))
            })?;
        }
        let dataset = Self {
            root,
            session,
            limits,
            lock: file,
            process: process::id(),
            tables: Mutex::default(),
            memory: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            open: Mutex::new(OpenParts {
                parts: Vec::new(),
                most: OPEN_PARTS,
            }),
        };
        Ok((dataset, made))
    }

    /// The session's folder of a table.
    pub(super) fn folder(&self, table: &str) -> PathBuf {
        self.root.join(table).join(&self.session)
    }

    /// The table of a schema: of the same name where columns are the same.
    pub(super) fn table_of(&self, name: &str, columns: &Schema) -> String {
        let columns = hash(format!("{columns:?}").as_bytes());
        let mut name = table(name);
        let mut tables = self.tables();
        if *tables.entry(name.clone()).or_insert(columns) != columns {
            name = format!("{name}~{columns:016x}");
            tables.insert(name.clone(), columns);
        }
        format!("{TYPED}/{name}")
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check_process(&self) -> std::result::Result<(), String> {
        if process::id() == self.process {
            return Ok(());
        }
        Err(format!(
            "writing {}: this process was forked from the one that began the session, which alone may \
             write; begin a session of its own here",
            self.root.display()
        ))
    }

    /// Refuses if what was written is not there any more.
    pub(super) fn check_folder(&self) -> std::result::Result<(), String> {
        let lock = self.folder(METADATA).join(LOCK);
        if lock.exists() {
            return Ok(());
        }
        Err(format!(
            "{} was removed while it was written: choose a `path` where files stay",
            self.root.display()
        ))
    }

    /// Removes the session's folders of ranges that were open, where nothing is in them. Other sessions
    /// may have theirs beside them.
    pub(super) fn remove_open(&self) {
        let root = self.root.join(OPEN);
        for table in tables(&root).unwrap_or_default() {
            remove_empty(&table, &self.session);
        }
        let _ = fs::remove_dir(root.join(TYPED));
        let _ = fs::remove_dir(root);
    }

    /// Makes a folder of the session's.
    pub(super) fn make(&self, folder: &Path) -> io::Result<()> {
        for _ in 0..ATTEMPTS {
            match fs::create_dir_all(folder) {
                // Another session may just have removed an empty folder on the way.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => return result,
            }
        }
        fs::create_dir_all(folder)
    }

    /// Notes that a row group takes `now` bytes instead of `before`. Returns whether all of them take
    /// too many.
    pub(super) fn account(&self, before: usize, now: usize) -> bool {
        self.memory.fetch_add(now, Ordering::Relaxed);
        self.memory.fetch_sub(before, Ordering::Relaxed) > MEMORY + before
    }

    /// Notes that a part was opened. Returns whether it should be closed soon.
    pub(super) fn add_open(&self, part: &Arc<OpenPart>) -> bool {
        let mut open = self.open_parts();
        open.parts.push(Arc::downgrade(part));
        open.parts.len() > open.most
    }

    pub(super) fn remove_open_part(&self, part: &OpenPart) {
        let mut open = self.open_parts();
        open.parts.retain(|other| !ptr::eq(other.as_ptr(), part));
    }

    /// Closes the part that was used least recently, as the process may open no more files. From then on fewer parts stay open,
    /// so that one more can be opened for a while. Returns whether there was one.
    pub(super) fn close_oldest(&self) -> bool {
        let open = self.open_parts().parts.clone();
        let mut open: Vec<_> = open.iter().filter_map(Weak::upgrade).collect();
        open.sort_by_key(|part| part.last_use.load(Ordering::Relaxed));
        // Parts that their streams are using are passed over.
        let is_closed = open.iter().any(|part| part.close_for_other(self));
        if is_closed {
            let mut open = self.open_parts();
            open.most = open.most.min(open.parts.len());
        }
        is_closed
    }

    /// The time of a write.
    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// May be locked while a part is, but not the other way round.
    fn open_parts(&self) -> MutexGuard<'_, OpenParts> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Dataset {
    fn drop(&mut self) {
        if self.check_process().is_err() {
            return;
        }
        release_lock(&self.lock, &self.folder(METADATA).join(LOCK));
    }
}

/// Opens the file `lock` and locks it. Returns whether it is a new file.
///
/// # Errors
/// Of the kind [`WouldBlock`](io::ErrorKind::WouldBlock) if another session holds it.
fn take_lock(lock: &Path) -> io::Result<(File, bool)> {
    loop {
        let created = OpenOptions::new().write(true).create_new(true).open(lock);
        let is_new = created.is_ok();
        let file = match created {
            // A session that was killed leaves it, without a lock.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match OpenOptions::new().write(true).open(lock) {
                    // A session that ends just now removes its own.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    opened => opened?,
                }
            }
            created => created?,
        };
        // Where the file system knows no locks, nothing can be found out.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if is_at(&file, lock) {
            return Ok((file, is_new));
        }
    }
}

/// Removes and unlocks the file that [`take_lock`] returned.
fn release_lock(file: &File, lock: &Path) {
    if is_at(file, lock) {
        // Whoever opens it before this gets the lock of a file without a name, and opens the next one.
        let _ = fs::remove_file(lock);
    }
    // A child that was forked meanwhile has the file open for as long as it lives, and the lock with it.
    let _ = file.unlock();
}

/// Returns true if the open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let found = fs::metadata(path);
    found.is_ok_and(|found| file.metadata().is_ok_and(|own| is_same(&own, &found)))
}

fn create_error(folder: &Path, error: &io::Error) -> Refusal {
    let shown = folder.display();
    Refusal::failed(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("can't create the folder {shown}: what it is in doesn't exist ({error})")
        }
        // A folder that is there is taken.
        io::ErrorKind::AlreadyExists => {
            format!(
                "{shown} exists and is no folder, as a Parquet dataset is: give another `path`, or remove it"
            )
        }
        _ => format!("can't create {shown}: {}", open_files::describe(error)),
    })
}

/// Returns whether there was none.
fn make_folder(folder: &Path) -> io::Result<bool> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(false),
        result => result.map(|()| true),
    }
}

/// Removes the parts that a session left in all tables, and the folders that are empty then.
fn remove(root: &Path, session: &str) -> io::Result<()> {
    let open = root.join(OPEN);
    for root in [root, &open] {
        for table in tables(root)? {
            remove_parts(&table.join(session))?;
            remove_empty(&table, session);
        }
        let _ = fs::remove_dir(root.join(TYPED));
    }
    let _ = fs::remove_dir(open);
    Ok(())
}

/// Removes a session's folder of a table if nothing is in it, and the table's if nothing is left there.
fn remove_empty(table: &Path, session: &str) {
    if fs::remove_dir(table.join(session)).is_ok() {
        let _ = fs::remove_dir(table);
    }
}

/// The folders of the tables that may be there.
fn tables(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut tables = vec![root.join(EVENTS), root.join(COUNTERS), root.join(METADATA)];
    match fs::read_dir(root.join(TYPED)) {
        Ok(entries) => {
            for entry in entries {
                tables.push(entry?.path());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(tables)
}

/// Removes the parts in a folder and in those in it; other files stay.
fn remove_parts(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            remove_parts(&path)?;
            // What has other files stays.
            let _ = fs::remove_dir(&path);
        } else if name.trim_start_matches('.').starts_with("part-") {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::replay::TempDir;

    const LIMITS: PartLimits = PartLimits {
        row_group: 1,
        part: 1,
    };

    fn create(root: &Path) -> Result<Dataset> {
        let (dataset, made) = Dataset::create(&mut Destination::new(root, true), "run", LIMITS)?;
        made.keep();
        Ok(dataset)
    }

    #[test]
    fn lock_file_goes_with_its_session_and_a_stale_one_is_taken_over() {
        let dir = TempDir::new();
        let lock = dir.path().join("metadata/nvtxw_session=run/.lock");
        let dataset = create(dir.path()).unwrap();
        assert!(lock.exists());
        let rejected = create(dir.path()).map(drop).unwrap_err();
        assert!(rejected.reason().contains("written by another session"));
        assert!(lock.exists());
        drop(dataset);
        assert!(!lock.exists());
        // After a kill.
        fs::write(&lock, "").unwrap();
        let dataset = create(dir.path()).unwrap();
        // Another program has made a new one.
        fs::remove_file(&lock).unwrap();
        fs::write(&lock, "").unwrap();
        drop(dataset);
        assert!(lock.exists());
    }

    /// Each holder removes the lock file while others open it.
    #[test]
    fn lock_is_exclusive_while_its_file_comes_and_goes() {
        let dir = TempDir::new();
        let lock = dir.path().join(LOCK);
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Ok((file, _)) = take_lock(&lock) {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            thread::yield_now();
                            holders.fetch_sub(1, Ordering::SeqCst);
                            release_lock(&file, &lock);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) >= 1);
    }

    #[test]
    fn file_that_lost_its_name_or_has_another_in_its_place_is_not_the_lock() {
        let dir = TempDir::new();
        let lock = dir.path().join(LOCK);
        let (file, is_new) = take_lock(&lock).unwrap();
        assert!(is_new && is_at(&file, &lock));
        fs::remove_file(&lock).unwrap();
        assert!(!is_at(&file, &lock));
        let (other, is_new) = take_lock(&lock).unwrap();
        assert!(is_new && is_at(&other, &lock) && !is_at(&file, &lock));
        release_lock(&file, &lock);
        assert!(lock.exists());
        release_lock(&other, &lock);
        assert!(!lock.exists());
    }

    /// Another process may take the lock between its making and its taking.
    #[test]
    fn who_gets_no_lock_leaves_the_folders_to_who_has_it() {
        let dir = TempDir::new();
        let mut met = 0;
        for round in 0..20_000 {
            let root = dir.path().join(round.to_string());
            let lock = root.join("metadata/nvtxw_session=run/.lock");
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let file = OpenOptions::new().write(true).open(&lock);
                        if let Ok(file) =
                            file.and_then(|file| Ok(file.try_lock().map(|()| file)?))
                        {
                            return Some(file);
                        }
                    }
                    None
                });
                let created = Dataset::create(&mut Destination::new(&root, true), "run", LIMITS);
                done.store(true, Ordering::Relaxed);
                let held = other.join().unwrap();
                if let Err(refusal) = created {
                    assert!(refusal.reason().contains("written by another session"));
                    assert!(held.is_some() && lock.exists(), "{}", lock.display());
                    met += 1;
                }
            });
            // It is there only where the other one came first.
            let _ = fs::remove_dir_all(&root);
            if met == 2 {
                return;
            }
        }
        println!("the other one came first {met} times only");
    }
}
