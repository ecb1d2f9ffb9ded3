//! `gangway app init`: creates a minimal working app.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use gangway_core::AppName;
use serde_json::json;

use super::super::{print_json, say::say};

/// Templates of a new app.
const FILES: [(&str, &str); 3] = [
    ("APP.md", include_str!("template/APP.md")),
    ("index.html", include_str!("template/index.html")),
    ("app.ts", include_str!("template/app.ts")),
];

#[derive(Args)]
pub(super) struct InitArgs {
    /// The folder; it is created if needed
    path: PathBuf,
    /// The app's name [default: the folder's name]
    #[arg(long)]
    name: Option<AppName>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: InitArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.path)?;
    let name = match args.name {
        Some(name) => name,
        None => {
            let folder = path.file_name().unwrap_or_default().to_string_lossy();
            let hint = "the folder name must consist of lowercase letters, digits and hyphens, or set a name with --name";
            folder.parse().context(hint)?
        }
    };
    if let Ok(mut entries) = std::fs::read_dir(&path) {
        anyhow::ensure!(
            entries.next().is_none(),
            "{} is not empty; choose a new or empty folder",
            path.display()
        );
    }
    std::fs::create_dir_all(&path).with_context(|| format!("creating {}", path.display()))?;
    let title = title(&name);
    for (file, template) in FILES {
        let text = template
            .replace("name: NAME", &format!("name: {name}"))
            .replace("TITLE", &title);
        let file = path.join(file);
        std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    let files = FILES.map(|(file, _)| file);
    if args.json {
        return print_json(&json!({ "name": name, "folder": path, "files": files }));
    }
    say!("Created {name} in {}: {}", path.display(), files.join(", "));
    say!("Try it: gangway app run {}", args.path.display());
    Ok(())
}

/// `my-app` becomes `My app`.
fn title(name: &AppName) -> String {
    let message = name.as_str().replace('-', " ");
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => message,
    }
}
