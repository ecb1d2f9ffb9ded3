//! `gangway open`: opens the chat in the browser, logged in.

use anyhow::Context;
use clap::Args;

use super::{Common, block_on, browser, print_json, say::say, server::running};
use crate::keys::LoginCode;

#[derive(Args)]
pub struct OpenArgs {
    /// Only print the link
    #[arg(long)]
    print: bool,
    /// Print the link as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: OpenArgs) -> anyhow::Result<()> {
    block_on(async {
        let data = args.common.data()?;
        let server =
            running(&args.common)?.context("Gangway is not running; start it: gangway serve")?;
        let code: LoginCode = server.post("/api/login/codes", &()).await?;
        if args.json {
            return print_json(&code);
        }
        if !args.print && browser::open_login(&code.url, &data, std::iter::empty()) {
            say!("Opening {} in your browser.", server.address().0);
            say!("If no window appears: gangway open --print");
            return Ok(());
        }
        say!("Open this link in your browser; it works once, for ten minutes:");
        say!("{}", code.url);
        Ok(())
    })
}
