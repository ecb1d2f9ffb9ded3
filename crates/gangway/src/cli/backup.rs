//! `gangway backup` and `gangway restore`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{Common, print_json, say::say};

#[derive(Args)]
pub struct BackupArgs {
    /// The archive to write, such as gangway.zip
    file: PathBuf,
    #[command(flatten)]
    common: Common,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct RestoreArgs {
    /// The archive that `gangway backup` wrote
    file: PathBuf,
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &BackupArgs) -> anyhow::Result<()> {
    let data = args.common.data()?;
    let made = gangway_backup::back_up(&data, &args.file, args.force)?;
    if args.json {
        return print_json(&json!({
            "file": std::path::absolute(&args.file)?,
            "sessions": made.sessions,
            "files": made.files,
            "bytes": made.bytes,
            "skipped": made.skipped,
        }));
    }
    for skipped in &made.skipped {
        say!(
            "{} is not a regular file and was not backed up",
            skipped.display()
        );
    }
    say!(
        "{}: {} sessions, {} files, {} bytes, checked. It contains your keys and secrets; only you can read it.",
        args.file.display(),
        made.sessions,
        made.files,
        made.bytes
    );
    Ok(())
}

pub(super) fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let data = args.common.data()?;
    let done = gangway_backup::restore(&args.file, &data)?;
    if args.json {
        return print_json(&json!({
            "data": data,
            "sessions": done.sessions,
            "files": done.files,
            "aside": done.aside,
        }));
    }
    say!(
        "{} has {} sessions and {} files of {}",
        data.display(),
        done.sessions,
        done.files,
        args.file.display()
    );
    say!(
        "Keys and permissions revoked since the backup are valid again; check `gangway key list` and the Permissions page"
    );
    if let Some(aside) = &done.aside {
        say!(
            "The previous data folder is now {}; delete it when you no longer need it",
            aside.display()
        );
    }
    Ok(())
}
