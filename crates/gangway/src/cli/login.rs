//! `gangway login`: a link that logs a browser in, once.

use clap::Args;

use super::{Common, block_on, print_json, say::say, through::Place};
use crate::auth::LoginCode;

/// Which Gangway.
#[derive(Args)]
pub struct LoginArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: LoginArgs) -> anyhow::Result<()> {
    block_on(async {
        let Place::Server(server) = Place::find(&args.common.data()?)? else {
            anyhow::bail!("no Gangway runs on this data folder; start one: gangway serve");
        };
        let code: LoginCode = server.post("/api/login/codes", &()).await?;
        if args.json {
            return print_json(&code);
        }
        say!("Open this in your browser; it works once, for ten minutes:");
        say!("{}", code.url);
        say!(
            "Or give this code to a page that asks for it: {}",
            code.code
        );
        Ok(())
    })
}
