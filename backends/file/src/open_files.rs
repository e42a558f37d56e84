//! The limit on the files that a process may hold open.

use std::io;

/// The error's text; where too many files are open, with the limit and the remedy.
pub(crate) fn describe(error: &io::Error) -> String {
    match limit_reached(error) {
        None => error.to_string(),
        Some(remedy) => format!("{error}; {remedy}"),
    }
}

/// Returns true if a file could not be opened because too many are open.
#[cfg(feature = "parquet")]
pub(crate) fn is_limit(error: &io::Error) -> bool {
    limit_reached(error).is_some()
}

#[cfg(unix)]
fn limit_reached(error: &io::Error) -> Option<String> {
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};

    match Errno::from_io_error(error)? {
        Errno::MFILE => {
            let limit = getrlimit(Resource::Nofile).current?;
            Some(format!(
                "the process may hold {limit} open files (`ulimit -n`): raise the limit, or keep fewer files open"
            ))
        }
        Errno::NFILE => Some(
            "the system's limit for all processes is reached (`fs.file-max` on Linux): raise it, or keep fewer files open"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(not(unix))]
fn limit_reached(_error: &io::Error) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};

    use super::*;

    #[test]
    fn limit_and_remedy_are_named() {
        let limit = getrlimit(Resource::Nofile).current.unwrap();
        assert_eq!(
            describe(&Errno::MFILE.into()),
            format!(
                "{}; the process may hold {limit} open files (`ulimit -n`): raise the limit, or keep fewer files open",
                io::Error::from(Errno::MFILE)
            )
        );
        assert_eq!(
            describe(&Errno::NFILE.into()),
            format!(
                "{}; the system's limit for all processes is reached (`fs.file-max` on Linux): raise it, or keep \
                 fewer files open",
                io::Error::from(Errno::NFILE)
            )
        );
        let other = io::Error::from(Errno::NOSPC);
        assert_eq!(describe(&other), other.to_string());
    }
}
