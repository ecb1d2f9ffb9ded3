//! `gangway doctor`: checks the data folder, while the server runs or not.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use gangway_client::data::{DataFolder, free_bytes};
use gangway_core::store;
use serde::{Serialize, de::IgnoredAny};

use super::{Common, print_json, say::say, serve::ServeArgs};

/// With less free space the next backup or model download would fill the disk.
const LEAST_FREE: u64 = 100 << 20;

/// JSON files that the server reads at startup.
const JSON_FILES: [&str; 4] = [
    "secrets/credentials.json",
    "secrets/names.json",
    "mcp/servers.json",
    "models/default.json",
];

#[derive(Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Continue with a database that is known to lack changes; the server must be stopped
    #[arg(long)]
    accept_loss: bool,
}

#[derive(Serialize)]
struct Checked {
    check: &'static str,
    /// The checked file or property.
    about: String,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Report {
    data: PathBuf,
    ok: bool,
    checks: Vec<Checked>,
}

pub(super) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let data = args.common.data()?;
    anyhow::ensure!(
        data.is_dir(),
        "there is no data folder at {}",
        data.display()
    );
    if args.accept_loss {
        let _held = DataFolder::take(&data)?;
        store::accept_loss(&data)?;
    }
    let checks = vec![
        database(&data),
        bookings(&data),
        settings(&data),
        files(&data),
        permissions(&data),
        space(&data),
    ];
    let ok = checks.iter().all(|checked| checked.problems.is_empty());
    let report = Report { data, ok, checks };
    if args.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    Ok(if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print(report: &Report) {
    for Checked {
        check,
        about,
        problems,
    } in &report.checks
    {
        let state = if problems.is_empty() { "ok" } else { "PROBLEM" };
        say!("{check:12} {state:8} {about}");
        for problem in problems {
            say!("{:12} - {problem}", "");
        }
    }
    if report.ok {
        say!("{} has no problems", report.data.display());
    } else {
        say!(
            "{} has problems. `gangway restore FILE` restores a backup.",
            report.data.display()
        );
    }
}

fn database(data: &Path) -> Checked {
    let file = data.join(store::DATABASE);
    let mut checked = Checked {
        check: "database",
        about: file.display().to_string(),
        problems: Vec::new(),
    };
    if !file.exists() {
        checked.about += ": none yet";
        return checked;
    }
    match store::examine(data) {
        Ok(found) => {
            checked.about += &format!(
                ": {} sessions, {} events, {} records",
                found.sessions, found.events, found.records
            );
            let listed = found.damage.iter().map(ToString::to_string);
            checked.problems.extend(listed);
            let more = found.damaged_places - checked.problems.len() as u64;
            if more > 0 {
                checked.problems.push(format!("and {more} more"));
            }
        }
        Err(error) => checked.problems.push(error.to_string()),
    }
    checked
}

fn bookings(data: &Path) -> Checked {
    let file = data.join("booking.db");
    let problems = if file.exists() {
        store::integrity_of(&file).unwrap_or_else(|error| vec![error.to_string()])
    } else {
        Vec::new()
    };
    Checked {
        check: "bookings",
        about: file.display().to_string(),
        problems,
    }
}

fn settings(data: &Path) -> Checked {
    let common = Common {
        data: Some(data.to_owned()),
    };
    let read = ServeArgs::alone(common).settings(data);
    Checked {
        check: "settings",
        about: data.join("config.yaml").display().to_string(),
        problems: read
            .err()
            .map(|error| format!("{error:#}"))
            .into_iter()
            .collect(),
    }
}

fn files(data: &Path) -> Checked {
    let mut problems = Vec::new();
    for name in JSON_FILES {
        let file = data.join(name);
        let read = std::fs::read(&file).map_err(anyhow::Error::from);
        let read = read.and_then(|text| Ok(serde_json::from_slice::<IgnoredAny>(&text)?));
        match read {
            Err(error) if file.exists() => problems.push(format!("{}: {error}", file.display())),
            _ => {}
        }
    }
    Checked {
        check: "files",
        about: "secrets, MCP servers and the default model".into(),
        problems,
    }
}

#[cfg(unix)]
fn permissions(data: &Path) -> Checked {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let mut problems = Vec::new();
    let owner = rustix::process::getuid().as_raw();
    let private = ["", "secrets", store::DATABASE, "server.lock", "booking.db"];
    for name in private {
        let path = data.join(name);
        let Ok(found) = path.metadata() else { continue };
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            problems.push(format!(
                "{} is accessible to other users (mode {mode:o}); run `chmod go= {0}`",
                path.display()
            ));
        }
        if found.uid() != owner {
            problems.push(format!("{} belongs to another user", path.display()));
        }
    }
    Checked {
        check: "permissions",
        about: "only you can read the data folder".into(),
        problems,
    }
}

#[cfg(not(unix))]
fn permissions(_data: &Path) -> Checked {
    Checked {
        check: "permissions",
        about: "not checked on this system".into(),
        problems: Vec::new(),
    }
}

fn space(data: &Path) -> Checked {
    let (about, problem) = match free_bytes(data) {
        Ok(free) => {
            let least = LEAST_FREE >> 20;
            let problem = format!("less than {least} MB of disk space are free");
            let about = format!("{} MB are free", free >> 20);
            (about, (free < LEAST_FREE).then_some(problem))
        }
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            ("not checked on this system".into(), None)
        }
        Err(error) => ("free space".into(), Some(error.to_string())),
    };
    Checked {
        check: "disk",
        about,
        problems: problem.into_iter().collect(),
    }
}
