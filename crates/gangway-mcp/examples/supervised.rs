//! A host of an MCP server that is its own guard: `supervised host COMMAND…` runs a server until it is killed and
//! prints the result of the server's `children` tool; `supervised guard COMMAND…` is the guard that it starts the
//! server with.

use std::{ffi::OsString, process::ExitCode};

use gangway_mcp::{Host, ServerSpec, Settings, guard};

#[allow(
    clippy::print_stdout,
    reason = "an example that is read by the test that starts it"
)]
async fn host(command: Vec<OsString>) -> Option<()> {
    let settings = Settings {
        guard: Some(vec![std::env::current_exe().ok()?.into(), "guard".into()]),
        ..Settings::default()
    };
    let host = Host::new(settings, None);
    let (program, args) = command.split_first()?;
    let id: gangway_mcp::ServerId = "it".parse().ok()?;
    let spec = ServerSpec::stdio(id, program, args.to_vec());
    host.set_up(vec![spec]).await;
    let tool = "it/children".parse().ok()?;
    let message = host.call("me", &tool, serde_json::Value::Null, None).await;
    println!("{}", message.ok()?[0]["text"].as_str()?);
    std::future::pending().await
}

fn main() -> ExitCode {
    let mut message = std::env::args_os().skip(1);
    let what = message.next().unwrap_or_default();
    let command: Vec<OsString> = message.collect();
    if what == "guard" {
        return guard::run(command);
    }
    let Ok(runtime) = tokio::runtime::Runtime::new() else {
        return ExitCode::FAILURE;
    };
    match runtime.block_on(host(command)) {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}
