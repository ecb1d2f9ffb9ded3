//! `gangway bridge install`, `uninstall` and `status`, in a home of the test's own.

use std::{
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

use super::{Swept, pipe::Pipe};
use crate::support::Gangway;

const HOST: &str = "gangway.bridge.json";

/// Where each browser looks, from the home or from the folder of settings.
const PLACES: [(&str, bool, &str); 5] = [
    ("firefox", true, ".mozilla/native-messaging-hosts"),
    ("chrome", false, "google-chrome/NativeMessagingHosts"),
    ("chromium", false, "chromium/NativeMessagingHosts"),
    ("edge", false, "microsoft-edge/NativeMessagingHosts"),
    (
        "brave",
        false,
        "BraveSoftware/Brave-Browser/NativeMessagingHosts",
    ),
];

struct Home {
    folder: Swept,
    data: PathBuf,
}

impl Home {
    fn new() -> Self {
        Self::with_data("data")
    }

    fn with_data(name: &str) -> Self {
        let folder = Swept::new();
        let data = folder.path().join(name);
        Self { folder, data }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self) -> Command {
        let mut command = Gangway::command(&self.data);
        command
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join("conf"))
            .env("PATH", self.path().join("bin"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command()
            .arg("bridge")
            .args(arguments)
            .output()
            .unwrap()
    }

    fn manifest(&self, browser: &str) -> PathBuf {
        let (_, home, place) = PLACES.into_iter().find(|place| place.0 == browser).unwrap();
        let root = match home {
            true => self.path().to_owned(),
            false => self.path().join("conf"),
        };
        root.join(place).join(HOST)
    }

    fn starter(&self) -> PathBuf {
        self.data.join("bridge/gangway-bridge")
    }

    /// The report, and the code.
    fn status(&self, arguments: &[&str]) -> (Value, i32) {
        let mut all = vec!["status", "--json"];
        all.extend(arguments);
        let done = self.run(&all);
        let report = serde_json::from_slice(&done.stdout);
        let report = report.unwrap_or_else(|_| panic!("{done:?}"));
        (report, done.status.code().unwrap())
    }

    fn install(&self, browser: &str) {
        let done = self.run(&["install", "--browser", browser]);
        assert!(done.status.success(), "{done:?}");
    }
}

fn words(done: &Output) -> String {
    assert!(!done.status.success(), "{done:?}");
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn each_browser_is_registered_checked_and_unregistered() {
    let home = Home::new();
    for (browser, ..) in PLACES {
        let (before, code) = home.status(&["--browser", browser]);
        assert_eq!(
            (&before["browsers"][0]["state"], code),
            (&json!("missing"), 1)
        );
        assert_eq!(before["starter"]["state"], "missing");
        let done = home.run(&["install", "--browser", browser, "--json"]);
        let seen: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(seen["browsers"][0]["state"], "ok", "{seen}");
        let manifest = read(&home.manifest(browser));
        let mut expected = json!({
            "name": "gangway.bridge", "description": "Gangway's bridge to its browser extension",
            "path": home.starter(), "type": "stdio",
        });
        match browser {
            "firefox" => expected["allowed_extensions"] = json!(["extension@gangway"]),
            _ => {
                let origin = "chrome-extension://njoboigjinompkfkjgolajikglchoefc/";
                expected["allowed_origins"] = json!([origin]);
            }
        }
        assert_eq!(manifest, expected);
        let (status, code) = home.status(&["--browser", browser]);
        assert_eq!(
            (status, code),
            (
                json!({
                    "host": "gangway.bridge",
                    "starter": { "path": home.starter(), "state": "ok" },
                    "browsers": [{ "browser": browser, "manifest": home.manifest(browser), "state": "ok" }],
                }),
                0
            )
        );
        let mode = std::fs::metadata(home.starter())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(
            home.run(&["uninstall", "--browser", browser])
                .status
                .success()
        );
        assert!(!home.manifest(browser).exists() && !home.starter().exists());
        // Nothing is left beside it either.
        let left = std::fs::read_dir(home.manifest(browser).parent().unwrap());
        assert_eq!(left.unwrap().count(), 0);
    }
}

#[test]
fn without_a_name_those_browsers_are_registered_that_are_installed() {
    let home = Home::new();
    let none = words(&home.run(&["install"]));
    assert!(
        none.contains("--browser") && none.contains("brave"),
        "{none}"
    );
    assert_eq!(home.status(&[]).1, 1);
    // One that was never started is there all the same.
    std::fs::create_dir_all(home.path().join("bin")).unwrap();
    std::fs::write(home.path().join("bin/chromium"), "").unwrap();
    // Newer ones keep their profiles there, but look where they always did.
    std::fs::create_dir_all(home.path().join("conf/mozilla")).unwrap();
    assert!(home.run(&["install"]).status.success());
    for (browser, ..) in PLACES {
        let seen = ["firefox", "chromium"].contains(&browser);
        assert_eq!(home.manifest(browser).exists(), seen, "{browser}");
    }
    // The starter goes with the last of them.
    std::fs::remove_file(home.manifest("firefox")).unwrap();
    let (status, code) = home.status(&[]);
    assert_eq!(code, 0, "{status}");
    assert_eq!(
        home.status(&["--browser", "firefox", "--browser", "chromium"])
            .1,
        1
    );
    home.install("firefox");
    home.run(&["uninstall", "--browser", "chromium"]);
    assert!(home.starter().exists());
    home.run(&["uninstall"]);
    assert!(!home.starter().exists() && !home.manifest("firefox").exists());
}

#[test]
fn a_folder_of_ones_own_is_used_for_one_browser_family() {
    let home = Home::new();
    let dir = home.path().join("profile/NativeMessagingHosts");
    let dir = dir.to_str().unwrap();
    assert!(words(&home.run(&["install", "--dir", dir])).contains("--browser"));
    let done = home.run(&["install", "--browser", "chromium", "--dir", dir]);
    assert!(done.status.success(), "{done:?}");
    assert!(Path::new(dir).join(HOST).exists() && !home.manifest("chromium").exists());
    assert_eq!(home.status(&["--browser", "chromium", "--dir", dir]).1, 0);
    assert_eq!(home.status(&["--browser", "firefox", "--dir", dir]).1, 1);
    assert!(
        home.run(&["uninstall", "--browser", "chromium", "--dir", dir])
            .status
            .success()
    );
    assert!(!Path::new(dir).join(HOST).exists());
}

#[test]
fn nothing_is_written_read_or_removed_through_a_link() {
    let home = Home::new();
    let precious = home.path().join("precious.json");
    let content = r#"{"name":"gangway.bridge"}"#;
    std::fs::write(&precious, content).unwrap();
    let manifest = home.manifest("firefox");
    std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    symlink(&precious, &manifest).unwrap();
    assert!(words(&home.run(&["install", "--browser", "firefox"])).contains("symbolic link"));
    let (status, _) = home.status(&["--browser", "firefox"]);
    assert_eq!(status["browsers"][0]["state"], "wrong");
    home.run(&["uninstall", "--browser", "firefox"]);
    assert!(manifest.is_symlink());

    // A folder that leads elsewhere.
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let hosts = home.manifest("chrome");
    let hosts = hosts.parent().unwrap();
    std::fs::create_dir_all(hosts.parent().unwrap()).unwrap();
    symlink(&elsewhere, hosts).unwrap();
    assert!(words(&home.run(&["install", "--browser", "chrome"])).contains("symbolic link"));
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);

    // The starter.
    let home = Home::new();
    std::fs::create_dir_all(home.starter().parent().unwrap()).unwrap();
    let precious = home.path().join("precious");
    std::fs::write(&precious, content).unwrap();
    symlink(&precious, home.starter()).unwrap();
    assert!(words(&home.run(&["install", "--browser", "edge"])).contains("symbolic link"));
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), content);
    assert!(!home.manifest("edge").exists());
}

#[test]
fn what_was_registered_for_another_data_folder_is_kept() {
    let home = Home::new();
    home.install("brave");
    let other = ["uninstall", "--browser", "brave", "--data"];
    let elsewhere = home.path().join("elsewhere");
    let done = home.run(&[&other[..], &[elsewhere.to_str().unwrap()]].concat());
    assert!(done.status.success());
    let message = String::from_utf8_lossy(&done.stdout);
    assert!(message.contains("another data folder"), "{message}");
    assert_eq!(home.status(&["--browser", "brave"]).1, 0);
}

#[test]
fn a_file_of_another_program_is_kept() {
    for foreign in [
        r#"{"name":"com.other.host","path":"/x"}"#,
        r#"{"name":"gangway.bridge","path":"/usr/bin/other","allowed_origins":["chrome-extension://x/"]}"#,
        "not JSON",
        "",
    ] {
        let home = Home::new();
        let manifest = home.manifest("brave");
        std::fs::create_dir_all(manifest.parent().unwrap()).unwrap();
        std::fs::write(&manifest, foreign).unwrap();
        let refused = words(&home.run(&["install", "--browser", "brave"]));
        assert!(refused.contains(HOST), "{refused}");
        assert!(!home.starter().exists());
        assert!(home.run(&["uninstall"]).status.success());
        assert_eq!(std::fs::read_to_string(&manifest).unwrap(), foreign);
        assert_eq!(
            home.status(&["--browser", "brave"]).0["browsers"][0]["state"],
            "wrong"
        );
    }
}

#[test]
fn what_is_wrong_with_a_manifest_is_reported_and_fixed_by_installing_again() {
    let home = Home::new();
    home.install("chrome");
    let good = read(&home.manifest("chrome"));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        wrong
    };
    let strangers = json!(["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"]);
    let no_slash = json!(["chrome-extension://njoboigjinompkfkjgolajikglchoefc"]);
    for (wrong, about) in [
        (
            with(&|m| m["allowed_origins"] = strangers.clone()),
            "allowed_origins",
        ),
        (
            with(&|m| m["allowed_origins"] = no_slash.clone()),
            "allowed_origins",
        ),
        (
            with(&|m| m["path"] = json!("bridge/gangway-bridge")),
            "absolute",
        ),
        (with(&|m| m["path"] = json!("/bin/true")), "/bin/true"),
        (
            with(&|m| m["allowed_extensions"] = json!(["extension@gangway"])),
            "both allowed_origins and",
        ),
        (with(&|m| m["type"] = json!("other")), "stdio"),
        (
            with(&|m| {
                let ids = m["allowed_origins"].as_array_mut().unwrap();
                ids.push(strangers[0].clone());
            }),
            "nothing else",
        ),
    ] {
        std::fs::write(home.manifest("chrome"), wrong.to_string()).unwrap();
        let (status, code) = home.status(&["--browser", "chrome"]);
        let seen = &status["browsers"][0];
        assert_eq!((&seen["state"], code), (&json!("wrong"), 1));
        assert!(seen["problem"].as_str().unwrap().contains(about), "{seen}");
        home.install("chrome");
        assert_eq!(home.status(&["--browser", "chrome"]).1, 0);
    }
    let starter = home.starter();
    std::fs::set_permissions(&starter, PermissionsExt::from_mode(0o600)).unwrap();
    let (status, _) = home.status(&["--browser", "chrome"]);
    assert!(
        status["browsers"][0]["problem"]
            .as_str()
            .unwrap()
            .contains("not executable")
    );
    // One that was moved, or removed.
    std::fs::set_permissions(&starter, PermissionsExt::from_mode(0o700)).unwrap();
    let script = std::fs::read_to_string(&starter).unwrap();
    let moved = script.replace("/gangway' bridge", "/nothing' bridge");
    for (script, about) in [(moved.as_str(), "/nothing"), ("#!/bin/sh\n", "written")] {
        std::fs::write(&starter, script).unwrap();
        let (status, code) = home.status(&["--browser", "chrome"]);
        let seen = &status["browsers"][0];
        assert_eq!((&seen["state"], code), (&json!("wrong"), 1), "{script}");
        assert!(seen["problem"].as_str().unwrap().contains(about), "{seen}");
        assert_eq!(status["starter"]["state"], "other_binary");
    }
    std::fs::remove_file(&starter).unwrap();
    let (status, code) = home.status(&["--browser", "chrome"]);
    assert_eq!((&status["starter"]["state"], code), (&json!("missing"), 1));
    assert!(
        status["browsers"][0]["problem"]
            .as_str()
            .unwrap()
            .contains("does not exist")
    );
    home.install("chrome");
    assert_eq!(home.status(&["--browser", "chrome"]).1, 0);
}

#[test]
fn the_starter_starts_the_bridge_whatever_the_folder_is_called() {
    for name in [
        "plain",
        "with space",
        "it's \"odd\" $HOME `x` \\ *",
        "Ünï;&|\n",
    ] {
        let home = Home::with_data(name);
        std::fs::create_dir_all(&home.data).unwrap();
        std::fs::write(home.data.join("config.yaml"), super::ALONE).unwrap();
        home.install("firefox");
        let manifest = home.manifest("firefox");
        let path = read(&manifest)["path"].as_str().unwrap().to_owned();
        // As Firefox starts it, with nothing of ours in its environment.
        let mut command = Command::new(path);
        command.arg(&manifest).arg("extension@gangway");
        command
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin");
        let mut pipe = Pipe::spawn(command);
        let hello = pipe.hello();
        assert_eq!(hello["attached"], "own", "{name:?}");
        let note = gangway_client::ServerNote::read(&home.data).unwrap();
        assert_eq!(hello["base_url"], json!(note.url));
        assert_eq!(pipe.end(), 0);
        let mut command = Command::new(home.starter());
        let stranger = command.arg("chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/");
        assert_eq!(stranger.output().unwrap().status.code(), Some(2));
    }
}
