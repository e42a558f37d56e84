//! `nvtxw backends`: what would be loaded, and why.

mod probe;

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use nvtxw::abi::raw::NVTXW_LIBRARY_ENV_VAR as VARIABLE;
use serde::Serialize;

use self::probe::Loaded;
use crate::error::{Error, Result};
use crate::page::{Page, Table};

/// Shows which backend library programs get, and why
///
/// Tries each library that NVTXW's own search looks at, in its order, in a process of its own: what a library does when it is
/// loaded does no harm here.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Options {
    /// A library to try too, as `--backend` takes it
    #[arg(value_name = "LIBRARY")]
    library: Option<PathBuf>,
    /// The program that is to find a backend: NVTXW's own search looks into its folder
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Prints JSON, with the members that docs/backends.md describes
    #[arg(long)]
    json: bool,
    /// Loads the library that the environment names, and says how that went
    #[arg(long, hide = true)]
    probe: bool,
}

const EXAMPLES: &str = "\
Examples:
  nvtxw backends                             what is found, and what wins
  NVTXW3_LIBRARY=./libnvtxw3.so nvtxw backends
  nvtxw backends --program ./simulator       as the program there finds it
  nvtxw backends --json /opt/lib/libtool.so  whether this one is a backend

Exit codes:
  0  NVTXW's own search finds a backend, or LIBRARY is one if it was given
  1  it finds none, or LIBRARY is none
  2  nothing could be found out";

/// What the platform's libraries are called.
const FILE_NAME: &str = if cfg!(windows) {
    "nvtxw3.dll"
} else if cfg!(target_os = "macos") {
    "libnvtxw3.dylib"
} else {
    "libnvtxw3.so"
};

/// A library that may be loaded, and how that goes.
#[derive(Serialize)]
struct Candidate {
    place: Place,
    /// As the platform's loader gets it; `None` if the place names none.
    library: Option<String>,
    /// Whether there is such a file, if it is one.
    exists: Option<bool>,
    /// Whether NVTXW's own search looks at it at all.
    searched: bool,
    wins: bool,
    #[serde(flatten)]
    loaded: Loaded,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Argument,
    Variable,
    ProgramFolder,
    Loader,
    WorkingFolder,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Argument => "LIBRARY",
            Self::Variable => VARIABLE,
            Self::ProgramFolder => "the program's folder",
            Self::Loader => "the loader's folders",
            Self::WorkingFolder => "the working folder",
        }
    }
}

/// Looks, and shows.
pub fn run(options: &Options) -> Result<()> {
    let printed = |error| Error::io("write", Path::new("-"), error);
    if options.probe {
        return probe::answer().map_err(printed);
    }
    let candidates = candidates(options)?;
    let mut page = Page::new();
    match options.json {
        true => json(&candidates, &mut page),
        false => report(&candidates, &mut page),
    }
    .and_then(|()| page.end())
    .map_err(printed)?;
    let wanted = match candidates.iter().find(|it| it.place == Place::Argument) {
        Some(given) => given.loaded.abi_version.is_some(),
        None => candidates.iter().any(|it| it.wins),
    };
    match (wanted, &options.library) {
        (true, _) => Ok(()),
        (false, Some(library)) => Err(Error::Findings(format!(
            "{} can't be used as a backend",
            library.display()
        ))),
        (false, None) => Err(Error::Findings(format!(
            "NVTXW's own search finds no backend: set {VARIABLE} to the path of one"
        ))),
    }
}

/// The library that NVTXW's own search finds for this program.
pub fn found_by(program: &Path) -> Result<Option<OsString>> {
    let options = Options {
        library: None,
        program: program.exists().then(|| program.to_owned()),
        json: false,
        probe: false,
    };
    let found = candidates(&options)?.into_iter().find(|it| it.wins);
    Ok(found.and_then(|it| it.library).map(OsString::from))
}

/// All that may be loaded, in the order in which it is looked for.
fn candidates(options: &Options) -> Result<Vec<Candidate>> {
    let program = match &options.program {
        None => env::current_exe().ok(),
        Some(program) => {
            let found = program.canonicalize();
            Some(found.map_err(|error| Error::io("find", program, error))?)
        }
    };
    let variable = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let folder = program.and_then(|program| Some(program.parent()?.join(FILE_NAME)));
    let only = variable.is_some();
    let places = [
        (Place::Variable, variable),
        (Place::ProgramFolder, folder.map(PathBuf::into_os_string)),
        (Place::Loader, Some(FILE_NAME.into())),
        (
            Place::WorkingFolder,
            Some(Path::new(".").join(FILE_NAME).into_os_string()),
        ),
    ];
    let mut all = Vec::new();
    if let Some(library) = &options.library {
        // A bare name is one that the loader would look for.
        let library = match is_bare(library) {
            true => Path::new(".").join(library),
            false => library.clone(),
        };
        all.push(candidate(
            Place::Argument,
            Some(library.into_os_string()),
            false,
        )?);
    }
    let mut has_winner = false;
    for (place, library) in places {
        let searched = place == Place::Variable || !only;
        let mut candidate = candidate(place, library, searched)?;
        candidate.wins = !has_winner && searched && candidate.loaded.abi_version.is_some();
        has_winner |= candidate.wins;
        all.push(candidate);
    }
    Ok(all)
}

/// Whether it is a file name without a place.
fn is_bare(library: &Path) -> bool {
    library.parent() == Some(Path::new(""))
}

fn candidate(place: Place, library: Option<OsString>, searched: bool) -> Result<Candidate> {
    let exists = library
        .as_deref()
        .map(Path::new)
        .filter(|library| !is_bare(library))
        .map(Path::exists);
    let loaded = match &library {
        Some(library) if exists != Some(false) => probe::in_child(library)?,
        _ => Loaded::default(),
    };
    let library = library.map(|library| library.to_string_lossy().into_owned());
    Ok(Candidate {
        place,
        library,
        exists,
        searched,
        wins: false,
        loaded,
    })
}

/// What changes when members change their meaning or go.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    candidates: &'a [Candidate],
}

fn json(candidates: &[Candidate], page: &mut Page) -> io::Result<()> {
    let document = Document {
        version: VERSION,
        candidates,
    };
    page.json(&document)
}

fn report(candidates: &[Candidate], page: &mut Page) -> io::Result<()> {
    let (given, searched): (Vec<_>, Vec<_>) =
        (candidates.iter()).partition(|it| it.place == Place::Argument);
    for candidate in given {
        let library = candidate.library.as_deref().unwrap_or_default();
        page.line(format_args!("{}: {}", library, outcome(candidate)))?;
    }
    page.heading("What NVTXW's own search finds, for programs that name no library")?;
    let mut table = Table::of_texts(&["", "place", "library: what comes of it"]);
    for candidate in &searched {
        let mark = if candidate.wins { "wins" } else { "" };
        let library = candidate.library.as_deref().unwrap_or("(not set)");
        let text = match candidate.library {
            Some(_) => format!("{}: {}", library, outcome(candidate)),
            None => library.to_owned(),
        };
        table.row([mark.to_owned(), candidate.place.name().to_owned(), text]);
    }
    page.table(&table)?;
    let folders = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    if cfg!(unix) && !folders.is_empty() {
        page.line(format_args!("LD_LIBRARY_PATH is {}", folders))?;
    }
    page.heading("What programs with the crate nvtxw get")?;
    let variable = searched.iter().find(|it| it.place == Place::Variable);
    let from_env = match variable.and_then(|it| it.library.as_deref()) {
        Some(library) => library.to_owned(),
        None => format!("an error, because {VARIABLE} is not set"),
    };
    page.line("Backend::embedded()  the built-in backend, and so does `nvtxw convert` without `--backend`")?;
    page.line(format_args!("Backend::from_env()  {from_env}"))?;
    page.line("Backend::load(path)  the library at this path and no other; so do `--backend` and Python's `load_backend`")
}

/// What comes of loading it, in words.
fn outcome(candidate: &Candidate) -> String {
    let loaded = &candidate.loaded;
    let mut text = match (&loaded.problem, loaded.abi_version) {
        (Some(problem), _) => problem.clone(),
        (None, Some(version)) => format!("a backend, ABI version {version}"),
        (None, None) if candidate.exists == Some(false) => "not there".to_owned(),
        (None, None) => "not found".to_owned(),
    };
    let library = candidate.library.as_deref();
    if let Some(file) = loaded.file.as_deref().filter(|file| Some(*file) != library) {
        text += &format!(" ({})", file);
    }
    if !candidate.searched && candidate.place != Place::Argument {
        text += &format!("; not looked at, because {VARIABLE} is set");
    }
    text
}
