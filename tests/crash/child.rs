//! The program that dies: this test program again, with the plan for it in the environment.

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

/// What a child is asked to do, by name.
const PLAN: &str = "NVTXW_CRASH_PLAN";
/// The file that it writes.
const PATH: &str = "NVTXW_CRASH_PATH";

/// Progress that the child told: a subject, and how far it is.
pub type Progress = (u8, u64);

/// A process that is killed when it is dropped, so that none stays behind where a test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A child that runs, and what it tells.
pub struct Running {
    child: Killed,
    told: JoinHandle<Vec<Progress>>,
}

/// How a child ended.
pub struct Ended {
    pub status: ExitStatus,
    /// All that it told.
    pub told: Vec<Progress>,
}

/// Whether this process is to carry out a plan: its name, and the file to write.
pub fn plan() -> Option<(String, PathBuf)> {
    let plan = std::env::var(PLAN).ok()?;
    Some((plan, std::env::var_os(PATH)?.into()))
}

/// Tells the parent how far something is. One write of few bytes: none of it is lost if the process dies after it.
pub fn tell(subject: u8, far: u64) {
    let mut record = [subject; 9];
    record[1..].copy_from_slice(&far.to_le_bytes());
    std::io::stderr()
        .write_all(&record)
        .expect("the parent listens");
}

/// A command that carries out a plan in a process of its own, after the words of `before`.
fn command(plan: &str, path: &Path, before: &[&str]) -> Command {
    let program = std::env::current_exe().expect("a path of this program");
    let mut command = match before {
        [] => Command::new(program),
        [first, more @ ..] => {
            let mut command = Command::new(first);
            command.args(more).arg(program);
            command
        }
    };
    command
        .args(["child", "--exact", "--ignored", "--nocapture"])
        .env(PLAN, plan)
        .env(PATH, path)
        .env("NVTXW_LOG", "off")
        // A panic that a plan asks for needs no words.
        .env_remove("RUST_BACKTRACE")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

impl Running {
    /// Starts a child. `hear` gets each record as it comes.
    pub fn start(plan: &str, path: &Path, mut hear: impl FnMut(Progress) + Send + 'static) -> Self {
        let mut child = command(plan, path, &[])
            .spawn()
            .expect("this program starts");
        let stderr = child.stderr.take().expect("it is piped");
        let told = std::thread::spawn(move || {
            let (mut stderr, mut told) = (BufReader::new(stderr), Vec::new());
            let mut record = [0; 9];
            while stderr.read_exact(&mut record).is_ok() {
                let far = u64::from_le_bytes(record[1..].try_into().expect("8 bytes"));
                hear((record[0], far));
                told.push((record[0], far));
            }
            told
        });
        let child = Killed(child);
        Self { child, told }
    }

    /// Kills it at once.
    pub fn kill(mut self) -> Ended {
        self.child.0.kill().expect("it can be killed");
        self.wait()
    }

    /// Waits for its own end.
    pub fn wait(mut self) -> Ended {
        let status = self.child.0.wait().expect("a child");
        Ended {
            status,
            told: self.told.join().expect("records"),
        }
    }
}

/// Runs a plan that checks by itself, after the words of `before`; returns what it said on standard error, as an error if
/// it failed.
pub fn run(plan: &str, path: &Path, before: &[&str]) -> Result<String, String> {
    let output = command(plan, path, before).output();
    let output = output.map_err(|error| format!("{before:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(said),
        false => Err(format!("{}: {said}", output.status)),
    }
}
