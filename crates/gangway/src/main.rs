//! The `gangway` command.

fn main() -> std::process::ExitCode {
    gangway::cli::main()
}
