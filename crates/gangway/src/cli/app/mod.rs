//! `gangway app`: list, show, validate, create and run apps, and vendor their packages.

mod init;
mod run;
mod vendor;

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_apps::{App, AppRegistry, Folders, SearchPaths, manifest::Problem, rank::rank};
use gangway_core::AppName;
use serde_json::{Value, json};

use super::{Common, block_on, print_json, say::say};
use crate::config::Config;

#[derive(Args)]
pub struct AppArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List apps, or find those that match a sentence
    List {
        /// What the app should do
        query: Option<String>,
        /// Only apps of this category
        #[arg(long)]
        category: Option<String>,
        /// Only apps with this tag
        #[arg(long)]
        tag: Option<String>,
        #[command(flatten)]
        place: AppsArgs,
    },
    /// Show the details of an app
    Info {
        /// The app's name
        name: AppName,
        #[command(flatten)]
        place: AppsArgs,
    },
    /// Validate the APP.md in a folder
    Validate {
        /// The folder
        path: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Trust a `weblets` folder: its apps are loaded when Gangway is started beside it
    Trust {
        /// The folder
        folder: PathBuf,
        #[command(flatten)]
        common: Common,
    },
    /// Stop trusting a `weblets` folder
    Untrust {
        /// The folder
        folder: PathBuf,
        #[command(flatten)]
        common: Common,
    },
    /// Create a minimal working app
    Init(init::InitArgs),
    /// Serve the app in a folder, without an agent
    Run(run::RunArgs),
    /// Download an app's `dependencies` with npm into its `vendor` folder
    Vendor(vendor::VendorArgs),
}

#[derive(Args)]
struct AppsArgs {
    #[command(flatten)]
    common: Common,
    /// A folder with apps; may be repeated
    #[arg(long, value_name = "DIR")]
    apps: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AppsArgs {
    fn registry(&self) -> anyhow::Result<Arc<AppRegistry>> {
        let named = named_apps(&self.common, &self.apps)?;
        let folders = Folders::only_read(&self.common.data()?);
        Ok(AppRegistry::new(
            &named,
            &SearchPaths::of_process(),
            folders,
        ))
    }
}

/// Settings of the data folder and the environment.
fn settings(common: &Common) -> anyhow::Result<Config> {
    let file = common.data()?.join("config.yaml");
    let config = match file.exists() {
        true => Config::read(&file)?,
        false => Config::default(),
    };
    Ok(config.with_environment(|name| std::env::var(name).ok())?)
}

/// App folders from the settings and the command line.
pub(super) fn named_apps(common: &Common, more: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let config = settings(common)?;
    Ok(config.apps.iter().chain(more).cloned().collect())
}

pub(super) fn run(args: AppArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::List {
            query,
            category,
            tag,
            place,
        } => {
            let fits = |app: &App| {
                let same = |wanted: &str, there: &str| wanted.eq_ignore_ascii_case(there);
                let manifest = &app.manifest;
                let kind = manifest.category.as_deref().unwrap_or_default();
                category.as_deref().is_none_or(|wanted| same(wanted, kind))
                    && tag
                        .as_deref()
                        .is_none_or(|wanted| manifest.tags.iter().any(|tag| same(wanted, tag)))
            };
            block_on(list(&place, query.as_deref(), fits))?;
        }
        Action::Info { name, place } => block_on(info(&place, &name))?,
        Action::Validate { path, json } => return validate(&path, json),
        Action::Trust { folder, common } => trust(&common, &folder, true)?,
        Action::Untrust { folder, common } => trust(&common, &folder, false)?,
        Action::Init(args) => init::run(args)?,
        Action::Run(args) => block_on(run::run(args))?,
        Action::Vendor(args) => block_on(vendor::run(args))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn trust(common: &Common, folder: &std::path::Path, trusted: bool) -> anyhow::Result<()> {
    let real = Folders::at(&common.data()?)
        .trust(folder, trusted)
        .with_context(|| format!("{} cannot be trusted", folder.display()))?;
    let loaded = if trusted { "loaded" } else { "not loaded" };
    say!("Apps in {} are {loaded}.", real.display());
    Ok(())
}

async fn list(
    place: &AppsArgs,
    query: Option<&str>,
    fits: impl Fn(&App) -> bool,
) -> anyhow::Result<()> {
    let registry = place.registry()?;
    let mut apps = registry.list().await;
    apps.retain(|app| fits(app));
    let apps = rank(query, &apps);
    let strays = registry.strays().await;
    let untrusted = registry.untrusted().await;
    if place.json {
        let shown: Vec<Value> = apps.iter().map(|(_, app)| brief(app)).collect();
        let stray = |stray: &gangway_apps::UnusableApp| json!({ "path": stray.path, "problems": stray.problems });
        let strays: Vec<Value> = strays.iter().map(stray).collect();
        let folders = untrusted.iter();
        let untrusted: Vec<Value> = folders
            .map(|one| json!({ "folder": one.folder, "apps": one.apps }))
            .collect();
        let all = json!({ "apps": shown, "strays": strays, "untrusted": untrusted });
        return print_json(&all);
    }
    if apps.is_empty() {
        match query {
            Some(_) => say!("No app matches. `gangway app list` shows all of them."),
            None => say!("There are no apps. Create one: gangway app init PATH"),
        }
    }
    let width = apps.iter().map(|(_, app)| app.name.as_str().len()).max();
    for (_, app) in &apps {
        let (name, width) = (app.name.as_str(), width.unwrap_or_default());
        let broken = if app.broken().is_some() {
            "  (broken)"
        } else {
            ""
        };
        say!("{name:width$}  {}{broken}", app.manifest.description);
    }
    for one in &untrusted {
        let folder = one.folder.display();
        say!(
            "Apps in {folder} that are not loaded: {}. Load them: gangway app trust {folder}",
            one.apps
        );
    }
    if query.is_none() {
        for stray in &strays {
            for problem in &stray.problems {
                say!("{}: {}", stray.path, problem.message);
            }
        }
    }
    Ok(())
}

fn brief(app: &App) -> Value {
    let manifest = &app.manifest;
    json!({
        "name": app.name,
        "title": manifest.title,
        "description": manifest.description,
        "version": manifest.version,
        "category": manifest.category,
        "tags": manifest.tags,
        "triggers": manifest.agent.triggers,
        "provides": manifest.agent.provides,
        "discoverable": manifest.agent.discoverable,
        "launchable": manifest.agent.launchable,
        "origin": app.origin.as_str(),
        "folder": app.folder.path(),
        "problems": app.problems,
    })
}

async fn info(place: &AppsArgs, name: &AppName) -> anyhow::Result<()> {
    let found = place.registry()?.called(name).await;
    let Some(app) = found else {
        anyhow::bail!("app {name} not found; `gangway app list` shows all apps");
    };
    let (manifest, agent) = (&app.manifest, &app.manifest.agent);
    let packages = app.package_problems(app.name.as_str());
    let problems: Vec<&Problem> = app.problems.iter().chain(&packages).collect();
    if place.json {
        let mut whole = brief(&app);
        whole["problems"] = json!(problems);
        let events = agent.events.iter().map(|event| {
            json!({ "name": event.name, "description": event.description, "payload": event.payload })
        });
        whole["entry"] = manifest.entry.as_str().into();
        whole["requires"] = json!(agent.requires);
        whole["context"] = serde_json::to_value(&agent.context)?;
        whole["events"] = events.collect();
        whole["about"] = manifest.about.as_str().into();
        return print_json(&whole);
    }
    say!("{} {} ({})", manifest.title, manifest.version, app.name);
    say!("{}", manifest.description);
    match app.folder.path() {
        Some(path) => say!("Folder: {}", path.display()),
        None => say!("It comes with Gangway."),
    }
    for (what, message) in [
        ("Triggers", &agent.triggers),
        ("Provides", &agent.provides),
        ("Tags", &manifest.tags),
    ] {
        if !message.is_empty() {
            say!("{what}: {}", message.join("; "));
        }
    }
    for (what, fields) in [
        ("data", &agent.context.data),
        ("config", &agent.context.config),
    ] {
        for (name, field) in fields {
            let text = field.description.as_deref().unwrap_or_default();
            let needed = if field.required { ", required" } else { "" };
            let kind = field.kind.map_or("any value", |kind| kind.named());
            say!("{what}.{name}: {kind}{needed}  {text}");
        }
    }
    for event in &agent.events {
        say!(
            "Event {}  {}",
            event.name,
            event.description.as_deref().unwrap_or_default()
        );
    }
    problems.iter().for_each(|problem| say!("{problem}"));
    Ok(())
}

fn validate(path: &std::path::Path, json: bool) -> anyhow::Result<ExitCode> {
    // A path to APP.md means its folder.
    let path = match path.is_file() {
        true => path.parent().unwrap_or(path),
        false => path,
    };
    let path = if path.as_os_str().is_empty() {
        std::path::Path::new(".")
    } else {
        path
    };
    anyhow::ensure!(path.is_dir(), "{} is not a folder", path.display());
    let found = App::in_folder(path);
    let problems: Vec<Problem> = match &found {
        Ok(app) => {
            let packages = app.package_problems(&path.display().to_string());
            app.problems.iter().cloned().chain(packages).collect()
        }
        Err(stray) => stray.problems.clone(),
    };
    let name = found.as_ref().ok().map(|app| &app.name);
    let good = found.as_ref().is_ok_and(|app| app.broken().is_none());
    if json {
        print_json(&json!({ "valid": good, "name": name, "problems": problems }))?;
    } else {
        problems.iter().for_each(|problem| say!("{problem}"));
        if let Some(name) = name.filter(|_| good) {
            say!("{name} is valid.");
        }
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
