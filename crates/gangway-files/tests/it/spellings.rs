//! Paths that try to get out of a folder.

use std::path::Path;

/// Hostile spellings.
pub fn spellings(base: &Path) -> Vec<String> {
    let outside = base.join("outside/secret.txt").display().to_string();
    let mut paths: Vec<String> = [
        "..",
        "../outside/secret.txt",
        "/../outside/secret.txt",
        "a/../../outside/secret.txt",
        "./../outside",
        "a/b/c/../../../../outside/secret.txt",
        "....//outside/secret.txt",
        "..;/outside/secret.txt",
        "%2e%2e/outside/secret.txt",
        "..%2foutside%2fsecret.txt",
        "%2e%2e%2f",
        "..%c0%afoutside",
        "..\\outside\\secret.txt",
        "a\\..\\..\\outside",
        "\\\\host\\share",
        "//host/share",
        "///etc/passwd",
        "/etc/passwd",
        "C:\\Windows",
        "C:/Windows",
        "c:",
        "\\\\?\\C:\\",
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "~/.ssh/id_rsa",
        "~root",
        "$HOME/.ssh",
        "${HOME}",
        "`id`",
        "|id",
        "a\0/../../outside",
        "a/f.txt\0.png",
        "\0",
        "a\n../outside",
        "\u{2025}/outside",
        "\u{ff0e}\u{ff0e}/outside",
        "\u{2024}\u{2024}/outside",
        "..\u{2215}outside",
        "..\u{2044}outside",
        "..\u{ff0f}outside",
        "\u{202e}txt.terces/edistuo/..",
        "..\u{200b}/outside",
        "\u{feff}../outside",
        " ../outside",
        ".. /outside",
        "../ outside",
        "a/ ../outside",
        "-",
        "--help",
        "*",
        "a/*",
        "?",
        "[a]",
        "CON",
        "nul",
        "aux.txt",
        "a:stream",
        "a/f.txt::$DATA",
        ".gangway-tmp-1",
        "a/.gangway-tmp-1",
        ".Gangway-TMP-1",
        "",
        "/",
        ".",
        "./",
        "././.",
        "a/",
        "a//f.txt",
        "a/./f.txt",
        "a/f.txt/",
        "a/f.txt/.",
        "a/f.txt/..",
        "a/f.txt/x",
        "pipe",
        "to-pipe",
        "socket",
        "pipe/x",
        "socket/x",
        "closed",
        "odd",
        "odd\u{fffd}\u{fffd}",
        "fine",
        "dot/a/f.txt",
        "dot/dot/dot/fine",
        "dot/../outside",
        "ring",
        "ring2/x",
        "dangling",
        "zero",
        "null",
        "tty",
        "environ",
        "fd",
        "fd/0",
        "fd/1",
        "fd/3",
        "fd/10",
        "self",
        "self/Cargo.toml",
        "proc/etc/passwd",
        "root",
        "root/etc/passwd",
        "root/proc/self/environ",
        "root/dev/zero",
        "root/dev/stdin",
    ]
    .map(str::to_owned)
    .to_vec();
    for link in [
        "out",
        "up",
        "a/up",
        "chain",
        "back",
        "dot/up",
        "dot/dot/out",
        "dot/chain",
        "dot/a/up",
        "./out",
        "/a/up",
    ] {
        for rest in [
            "",
            "/",
            "/secret.txt",
            "/deep",
            "/deep/secret.txt",
            "/new.txt",
            "/new/deep/x.txt",
            "/./secret.txt",
        ] {
            paths.push(format!("{link}{rest}"));
        }
    }
    for link in [
        "out-file",
        "a/b/up",
        "chain2",
        "chain2/secret.txt",
        "chain2/new.txt",
    ] {
        paths.push(link.to_owned());
        paths.push(format!("{link}/"));
    }
    paths.push(outside.clone());
    paths.push(format!("/{outside}"));
    paths.push(format!("root{outside}"));
    paths.push(format!("proc{outside}"));
    paths.push("../".repeat(300) + "etc/passwd");
    paths.push("x".repeat(256));
    paths.push("x/".repeat(600));
    paths.push("a/".repeat(100) + "x");
    paths
}
