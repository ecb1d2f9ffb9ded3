//! `gangway app vendor`: downloads the packages that an app imports by name.

use std::{ffi::OsString, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, bail, ensure};
use clap::Args;
use gangway_apps::{App, VendorFolder, manifest::Problem};
use gangway_core::AppName;
use gangway_mcp::package::{Carrier, Dependency, Ecosystem, Output, Vendor, Vendored};
use gangway_tools::{GUARD, install::search_path};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        print_json, program,
        say::{complain, say},
        serve::stop_signal,
    },
    AppsArgs, settings,
};

/// Lines of npm output that are kept for the error message.
const LINES: usize = 200;

#[derive(Args)]
pub(super) struct VendorArgs {
    /// The app's folder or name
    app: String,
    #[command(flatten)]
    place: AppsArgs,
}

struct Done {
    /// `None` if everything was up to date.
    fetched: Option<Vendored>,
    /// Packages in `vendor` that the app's author put there.
    own: Vec<String>,
}

pub(super) async fn run(args: VendorArgs) -> anyhow::Result<()> {
    let app = find(&args).await?;
    let Some(folder) = app.folder.path() else {
        bail!(
            "{} comes with Gangway and cannot be changed; copy it into a folder of yours first",
            app.name
        );
    };
    let needs = needs(&app)?;
    let mut vendor = VendorFolder::open(folder)
        .with_context(|| format!("{} cannot be used", folder.join("vendor").display()))?;
    // A package that the author put there is not replaced.
    let (own, wanted): (Vec<_>, Vec<_>) = needs.into_iter().partition(|need| {
        vendor.is_own(need.name()) || (!vendor.is_ours(need.name()) && app.has_package(need.name()))
    });
    let mut own: Vec<String> = own.iter().map(|need| need.name().to_owned()).collect();
    let mut fetched = None;
    if !wanted.is_empty() {
        let modules = tempfile::Builder::new().prefix("gangway-vendor-").tempdir();
        let modules = modules.context("creating a temporary folder")?;
        if !args.place.json {
            complain!("Downloading {} with npm", listed(&wanted));
        }
        let came = fetch(&args, &wanted, modules.path()).await?;
        let stored = vendor
            .place(&modules.path().join("node_modules"), &came.packages)
            .with_context(|| format!("writing packages to {}/vendor", folder.display()))?;
        own.extend(stored);
        own.sort();
        own.dedup();
        fetched = Some(came);
    }
    let problems = app.package_problems(&args.app);
    report(&args, &app, &Done { fetched, own }, &problems)
}

async fn find(args: &VendorArgs) -> anyhow::Result<Arc<App>> {
    let path = Path::new(&args.app);
    if path.join("APP.md").is_file() {
        let app = App::in_folder(&std::path::absolute(path)?).map_err(|stray| {
            let lines: Vec<String> = stray.problems.iter().map(ToString::to_string).collect();
            anyhow::anyhow!("its APP.md cannot be read:\n{}", lines.join("\n"))
        });
        return app.map(Arc::new);
    }
    let name: Result<AppName, _> = args.app.parse();
    let Ok(name) = name else {
        bail!(
            "there is no APP.md in {}, and it is not an app name",
            args.app
        );
    };
    let found = args.place.registry()?.called(&name).await;
    found.with_context(|| {
        format!("app {name} not found; `gangway app list` shows all apps, or pass the app's folder")
    })
}

/// The dependencies to download; all problems are reported at once.
fn needs(app: &App) -> anyhow::Result<Vec<Dependency>> {
    let declared = &app.manifest.dependencies;
    ensure!(
        !declared.is_empty(),
        "{} has no `dependencies` in its APP.md, so there is nothing to download",
        app.name
    );
    let (mut needs, mut wrong) = (Vec::new(), Vec::new());
    for need in declared {
        match Dependency::parse(&need.name, &need.range) {
            Ok(need) => needs.push(need),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    ensure!(
        wrong.is_empty(),
        "`dependencies` of {} cannot be downloaded:\n{}",
        app.name,
        wrong.join("\n")
    );
    Ok(needs)
}

async fn fetch(
    args: &VendorArgs,
    wanted: &[Dependency],
    folder: &Path,
) -> anyhow::Result<Vendored> {
    let config = settings(&args.place.common)?;
    let path = search_path(&config.tools.programs);
    ensure!(
        Carrier::of(Ecosystem::Npm, &path).is_some(),
        "npm is not on PATH: install Node.js from https://nodejs.org, which includes it, or add its folder to `tools.programs` in config.yaml"
    );
    // npm and its children end with this process, even if it is killed.
    let guard = program().map(|own| vec![own, GUARD.into(), OsString::from("--")]);
    let vendor = Vendor {
        dependencies: wanted,
        folder,
        path: &path,
        guard: guard.as_deref(),
        time: Duration::from_secs(config.tools.install_seconds),
    };
    let stop = CancellationToken::new();
    let signal = stop_signal()?;
    let (output, cancel) = (Output::keeping(LINES), stop.clone());
    let cancelled = tokio::spawn(async move {
        signal.await;
        cancel.cancel();
    });
    let fetched = vendor.run(&output, &stop).await;
    cancelled.abort();
    Ok(fetched?)
}

fn listed(needs: &[Dependency]) -> String {
    let shown = |need: &Dependency| match need.range() {
        "*" => need.name().to_owned(),
        range => format!("{}@{range}", need.name()),
    };
    needs.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn report(args: &VendorArgs, app: &App, done: &Done, problems: &[Problem]) -> anyhow::Result<()> {
    let fetched = done.fetched.iter().flat_map(|fetched| &fetched.packages);
    let fetched = fetched.filter(|(name, _)| !done.own.contains(name));
    let is_named = |name: &str| {
        let mut named = app.manifest.dependencies.iter();
        named.any(|need| need.name == name)
    };
    let (named, needed): (Vec<_>, Vec<_>) = fetched.partition(|(name, _)| is_named(name));
    let scripts = done
        .fetched
        .as_ref()
        .map(|one| one.skipped_scripts.as_slice());
    let scripts = scripts.unwrap_or_default();
    let folder = app.folder.path().map(|folder| folder.join("vendor"));
    if args.place.json {
        let packages = |list: &[(&String, &String)]| -> Vec<Value> {
            let one =
                |(name, version): &(&String, &String)| json!({ "name": name, "version": version });
            list.iter().map(one).collect()
        };
        return print_json(&json!({
            "name": app.name,
            "folder": folder,
            "packages": packages(&named),
            "neededByThem": packages(&needed),
            "own": done.own,
            "skippedScripts": scripts,
            "problems": problems,
        }));
    }
    if named.is_empty() {
        say!("All packages of {} are up to date.", app.name);
    }
    for (name, version) in &named {
        say!("{name} {version}");
    }
    if !needed.is_empty() {
        say!("and transitive dependencies: {}", needed.len());
    }
    if let Some(folder) = folder.filter(|_| !named.is_empty()) {
        say!("They are in {}.", folder.display());
    }
    if !done.own.is_empty() && !named.is_empty() {
        let own = done.own.join(", ");
        say!("Packages of the app's author were kept: {own}");
    }
    if !scripts.is_empty() {
        say!("Install scripts did not run: {}", scripts.join(", "));
    }
    problems.iter().for_each(|problem| say!("{problem}"));
    Ok(())
}
