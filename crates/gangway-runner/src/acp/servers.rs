//! MCP servers in the form that ACP agents get when a session opens.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use agent_client_protocol::v1::schema::{
    EnvVariable, HttpHeader, McpCapabilities, McpServer, McpServerHttp, McpServerStdio,
};
use gangway_mcp::{ServerSpec, Transport};

/// The name of the server with the tools of open pages.
const PAGES: &str = "pages";

/// Those that the agent supports.
pub(super) fn supported(specs: Vec<ServerSpec>, able: &McpCapabilities) -> Vec<McpServer> {
    let enabled = specs.into_iter().filter(|spec| spec.enabled);
    enabled.filter_map(|spec| one(spec, able)).collect()
}

fn one(spec: ServerSpec, able: &McpCapabilities) -> Option<McpServer> {
    let name = spec.id.to_string();
    match spec.transport {
        Transport::Stdio {
            command, args, env, ..
        } => {
            let args: Option<Vec<String>> =
                args.into_iter().map(|arg| arg.into_string().ok()).collect();
            let env: Option<Vec<EnvVariable>> = env
                .into_iter()
                .map(|(name, value)| {
                    let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
                    Some(EnvVariable::new(name, value))
                })
                .collect();
            let server = McpServerStdio::new(name, found(&command)).args(args?);
            Some(McpServer::Stdio(server.env(env?)))
        }
        Transport::Http { url, headers, .. } if able.http => {
            let headers = headers
                .into_iter()
                .map(|(name, value)| HttpHeader::new(name, value));
            let server = McpServerHttp::new(name, url).headers(headers.collect::<Vec<_>>());
            Some(McpServer::Http(server))
        }
        Transport::Http { .. } => None,
    }
}

/// The server with the tools of open pages, named apart from the others.
pub(super) fn of_pages(command: Vec<OsString>, others: &[McpServer]) -> Option<McpServer> {
    let mut words = command.into_iter();
    let program = PathBuf::from(words.next()?);
    let args: Option<Vec<String>> = words.map(|word| word.into_string().ok()).collect();
    let is_taken = others.iter().any(|server| match server {
        McpServer::Stdio(server) => server.name == PAGES,
        McpServer::Http(server) => server.name == PAGES,
        _ => false,
    });
    let name = if is_taken { "gangway-pages" } else { PAGES };
    Some(McpServer::Stdio(
        McpServerStdio::new(name, program).args(args?),
    ))
}

/// The absolute path of a program, which the protocol requires.
fn found(command: &OsStr) -> PathBuf {
    let command = Path::new(command);
    if command.components().count() > 1 {
        return std::path::absolute(command).unwrap_or_else(|_| command.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(command));
    places
        .find(|place| place.is_file())
        .unwrap_or_else(|| command.to_owned())
}
