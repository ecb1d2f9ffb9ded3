//! `gangway bridge install`, `uninstall` and `status`: registration with browsers, for this user only.

mod browsers;
pub(crate) mod manifest;
mod registry;
mod starter;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};

use clap::Args;
use gangway_terminal::{print_json, say};
use serde::Serialize;

use self::{
    browsers::{Browser, BrowserPaths, RegistrationTarget},
    manifest::HOST,
    starter::{Starter, write_whole},
};

#[derive(Args)]
pub struct BrowserArgs {
    /// A browser; may be repeated [default: all installed ones]
    #[arg(long, value_enum, value_name = "NAME")]
    browser: Vec<Browser>,
    /// The folder for the manifest, for a browser with a custom profile folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Missing,
    Wrong,
}

#[derive(Serialize)]
struct Report {
    host: &'static str,
    starter: StarterReport,
    browsers: Vec<BrowserReport>,
}

#[derive(Serialize)]
struct StarterReport {
    path: PathBuf,
    state: starter::State,
}

#[derive(Serialize)]
struct BrowserReport {
    browser: Browser,
    manifest: PathBuf,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

struct Installer {
    around: BrowserPaths,
    starter: Starter,
    dir: Option<PathBuf>,
    browsers: Vec<Browser>,
}

impl Installer {
    fn new(place: &BrowserArgs, data: &Path) -> anyhow::Result<Self> {
        let around = BrowserPaths::of_process()?;
        let program = std::env::current_exe().context("finding the path of this program")?;
        ensure!(
            program.is_file(),
            "{} no longer exists; run the binary that replaced it",
            program.display()
        );
        let starter = Starter::new(data, &program, around.system)?;
        let dir = place.dir.as_ref().map(std::path::absolute).transpose()?;
        if dir.is_some() && place.browser.len() != 1 {
            bail!("--dir needs exactly one --browser, which decides the format of the manifest");
        }
        let mut browsers = place.browser.clone();
        if browsers.is_empty() {
            let there = |browser: &Browser| browser.is_there(&around);
            browsers = Browser::ALL.into_iter().filter(there).collect();
        }
        let mut seen = Vec::new();
        browsers.retain(|one| {
            !seen.contains(one) && {
                seen.push(*one);
                true
            }
        });
        Ok(Self {
            around,
            starter,
            dir,
            browsers,
        })
    }

    /// The manifest of a browser, and the registry key with its path.
    fn manifest(&self, browser: Browser) -> (PathBuf, Option<String>) {
        let file = format!("{HOST}.json");
        match (&self.dir, browser.spot(&self.around)) {
            (Some(dir), _) => (dir.join(file), None),
            (None, RegistrationTarget::Folder(folder)) => (folder.join(file), None),
            (None, RegistrationTarget::Registry(key)) => {
                let file = format!("{HOST}.{}.json", browser.told_as().name());
                (self.starter.folder().join(file), Some(key))
            }
        }
    }

    /// The program of a manifest, if it exists and belongs to another data folder.
    fn starts_another(&self, text: &str) -> Option<PathBuf> {
        manifest::program(text).filter(|path| *path != self.starter.path && path.is_file())
    }

    fn look(&self, browser: Browser) -> BrowserReport {
        let (manifest, key) = self.manifest(browser);
        let checked = read(&manifest).and_then(|text| match key {
            // Without the key the manifest has no effect.
            Some(key) if text.is_some() => {
                let named = registry::read(&key)?;
                Ok(named.filter(|file| Path::new(file) == manifest).and(text))
            }
            _ => Ok(text),
        });
        let (state, problem) = match checked {
            Ok(None) => (State::Missing, None),
            Ok(Some(text)) => {
                let wrong = manifest::problem(&text, browser.kin(), &self.starter.path);
                match wrong.or_else(|| self.starter.problem()) {
                    None => (State::Ok, None),
                    problem => (State::Wrong, problem),
                }
            }
            Err(error) => (State::Wrong, Some(format!("{error:#}"))),
        };
        BrowserReport {
            browser,
            manifest,
            state,
            problem,
        }
    }

    fn report(&self) -> Report {
        Report {
            host: HOST,
            starter: StarterReport {
                path: self.starter.path.clone(),
                state: self.starter.state(),
            },
            browsers: self.browsers.iter().map(|one| self.look(*one)).collect(),
        }
    }
}

/// Reads a file, if it exists. Links are not followed: we write none.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    /// Far more than a manifest needs.
    const MOST: u64 = 64 << 10;
    let shown = path.display();
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {shown}")),
        Ok(about) if about.is_symlink() => bail!("{shown} is a symbolic link"),
        Ok(about) if !about.is_file() => bail!("{shown} is not a file"),
        Ok(about) if about.len() > MOST => bail!("{shown} is too large for a manifest"),
        Ok(_) => {
            let bytes = std::fs::read(path).with_context(|| format!("reading {shown}"))?;
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
    }
}

pub fn install(place: &BrowserArgs, data: &Path) -> anyhow::Result<ExitCode> {
    let installer = Installer::new(place, data)?;
    if installer.browsers.is_empty() {
        let names = Browser::ALL.map(Browser::name).join(", ");
        bail!("no browser was found by its program or profile; name one with --browser: {names}");
    }
    // Check everything first, so that nothing is half done.
    for browser in &installer.browsers {
        let (file, _) = installer.manifest(*browser);
        let foreign = read(&file)?.is_some_and(|text| !manifest::is_ours(&text));
        ensure!(
            !foreign,
            "{} was not written by Gangway; move it away and install again",
            file.display()
        );
    }
    installer.starter.write()?;
    let program = installer.starter.path.to_string_lossy();
    for browser in &installer.browsers {
        let (file, key) = installer.manifest(*browser);
        let text = manifest::write(browser.kin(), &program);
        write_whole(&file, text.as_bytes(), 0o600)?;
        if let Some(key) = key {
            registry::set(&key, &file.to_string_lossy())?;
        }
    }
    show(place, &installer.report())?;
    if !place.json {
        say!("Load the extension if you have not yet; it connects by itself.");
    }
    Ok(ExitCode::SUCCESS)
}

pub fn uninstall(place: &BrowserArgs, data: &Path) -> anyhow::Result<ExitCode> {
    let mut installer = Installer::new(place, data)?;
    if place.browser.is_empty() {
        installer.browsers = Browser::ALL.to_vec();
    }
    let mut removed = 0;
    for browser in &installer.browsers {
        let (file, key) = installer.manifest(*browser);
        let text = match read(&file) {
            Ok(None) => {
                // The key of a missing file.
                if let Some(key) = &key
                    && registry::read(key)?.is_some_and(|named| Path::new(&named) == file)
                {
                    registry::remove(key)?;
                }
                continue;
            }
            Ok(Some(text)) if manifest::is_ours(&text) => text,
            _ => {
                say!("{} was not written by Gangway and is kept.", file.display());
                continue;
            }
        };
        if let Some(starts) = installer.starts_another(&text) {
            let (file, starts) = (file.display(), starts.display());
            say!(
                "{file} starts {starts}, which belongs to another data folder, and is kept; name that folder with --data."
            );
            continue;
        }
        if let Some(key) = &key
            && registry::read(key)?.is_some()
        {
            registry::remove(key)?;
        }
        std::fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
        say!("Removed {}.", file.display());
        removed += 1;
    }
    // Other browsers may still use the launcher.
    installer.dir = None;
    let used = |browser: &Browser| {
        let (file, _) = installer.manifest(*browser);
        let text = read(&file).ok().flatten();
        let starts = text.and_then(|text| manifest::program(&text));
        starts.is_some_and(|path| path == installer.starter.path)
    };
    if !Browser::ALL.iter().any(used) && installer.starter.path.is_file() {
        let path = &installer.starter.path;
        std::fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
        say!("Removed {}.", path.display());
    }
    if removed == 0 {
        say!("The bridge was not registered with any browser.");
    } else {
        say!("Running browsers notice this after a restart.");
    }
    Ok(ExitCode::SUCCESS)
}

pub fn status(place: &BrowserArgs, data: &Path) -> anyhow::Result<ExitCode> {
    let installer = Installer::new(place, data)?;
    let report = installer.report();
    show(place, &report)?;
    let mut oks = report.browsers.iter().map(|one| one.state == State::Ok);
    let good = match place.browser.is_empty() {
        true => oks.any(|ok| ok),
        false => oks.all(|ok| ok),
    };
    Ok(match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn show(place: &BrowserArgs, report: &Report) -> anyhow::Result<()> {
    if place.json {
        print_json(report)?;
        return Ok(());
    }
    for one in &report.browsers {
        let (name, file) = (one.browser.name(), one.manifest.display());
        match (one.state, &one.problem) {
            (State::Ok, _) => say!("{name}: registered in {file}"),
            (State::Missing, _) => {
                say!("{name}: not registered; run `gangway bridge install --browser {name}`")
            }
            (State::Wrong, problem) => {
                let problem = problem.as_deref().unwrap_or_default();
                say!("{name}: registered incorrectly in {file}: {problem}");
            }
        }
    }
    if report.browsers.is_empty() {
        say!("No browser was found; name one with --browser.");
    }
    if report.starter.state == starter::State::OtherBinary {
        say!(
            "{} starts another Gangway binary; install again to use this one.",
            report.starter.path.display()
        );
    }
    Ok(())
}
