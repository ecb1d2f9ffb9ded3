//! Which names untrusted entries may use for variables, headers, flags and inputs.

/// Variables that change how any program is found, loaded or connected.
const REFUSED: [&str; 24] = [
    "PATH",
    "HOME",
    "SHELL",
    "USER",
    "LOGNAME",
    "IFS",
    "ENV",
    "BASH_ENV",
    "PS4",
    "TMPDIR",
    "BROWSER",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "GCONV_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "CURL_HOME",
];

/// Prefixes of such variables.
const REFUSED_STARTS: [&str; 20] = [
    "LD_",
    "DYLD_",
    "NODE_",
    "NPM_",
    "PYTHON",
    "UV_",
    "PIP_",
    "PIPX_",
    "VIRTUAL_ENV",
    "PERL",
    "RUBY",
    "GEM_",
    "GIT_",
    "SSH_",
    "SSL_",
    "XDG_",
    "MALLOC_",
    "BASH_FUNC_",
    "GANGWAY_",
    "NIX_",
];

/// Exceptions that many servers ask for.
const HARMLESS: [&str; 4] = [
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
];

/// Whether an untrusted entry may set a variable.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    HARMLESS.contains(&name)
        || !(REFUSED.contains(&upper.as_str())
            || upper.ends_with("_PROXY")
            || REFUSED_STARTS.iter().any(|start| upper.starts_with(start)))
}

/// Whether this is a valid variable name.
pub(super) fn is_variable(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether this is a valid header name that is not reserved for the connection.
pub(super) fn is_header(name: &str) -> bool {
    let own = [
        "host",
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
        "upgrade",
        "te",
        "trailer",
        "accept",
        "cookie",
        "origin",
        "mcp-session-id",
        "mcp-protocol-version",
        "last-event-id",
    ];
    !name.is_empty()
        && name.len() <= 128
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !own.contains(&name.to_ascii_lowercase().as_str())
}

pub(super) fn is_flag(name: &str) -> bool {
    let bare = name.trim_start_matches('-');
    name.len() <= 128
        && name.len() - bare.len() <= 2
        && bare.starts_with(|c: char| c.is_ascii_alphanumeric())
        && bare
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

pub(super) fn is_input(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_change_how_programs_load_are_refused() {
        for name in "PATH path LD_PRELOAD ld_preload DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP \
            npm_config_registry NPM_CONFIG_PREFIX UV_INDEX_URL PIP_INDEX_URL HTTPS_PROXY all_proxy BASH_ENV HOME \
            GIT_SSH_COMMAND SSL_CERT_FILE JAVA_TOOL_OPTIONS PERL5OPT RUBYOPT GANGWAY_GUARD_PARENT XDG_CONFIG_HOME"
            .split_whitespace()
        {
            assert!(!is_harmless_variable(name), "{name}");
        }
        for name in
            "API_KEY GITHUB_TOKEN NODE_ENV PYTHONUNBUFFERED PATHS MY_PATH GITLAB_URL LDAP_URL"
                .split_whitespace()
        {
            assert!(is_harmless_variable(name) && is_variable(name), "{name}");
        }
        for name in ["", "1A", "A-B", "A=B", "A B", "A\n", "É"] {
            assert!(!is_variable(name), "{name:?}");
        }
    }

    #[test]
    fn headers_and_flags_have_a_form() {
        assert!(is_header("Authorization") && is_header("X-Api_Key"));
        for name in [
            "",
            "Host",
            "content-LENGTH",
            "a b",
            "a:b",
            "a\r\n",
            "é",
            "Cookie",
        ] {
            assert!(!is_header(name), "{name:?}");
        }
        assert!(is_flag("--api-key") && is_flag("-v") && is_flag("stdio") && is_flag("--a.b"));
        for name in ["", "-", "--", "---x", "--a b", "--a=b", "a\n", "$(x)"] {
            assert!(!is_flag(name), "{name:?}");
        }
    }
}
