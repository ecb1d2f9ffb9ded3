//! The guard of the tests: `tools_guard child-guard -- COMMAND…` runs a server or a package manager as `gangway` does.

use std::process::ExitCode;

fn main() -> ExitCode {
    gangway_mcp::guard::run(std::env::args_os().skip(3).collect())
}
