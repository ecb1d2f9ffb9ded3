//! Discovery of apps.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gangway_apps::{AppRegistry, Folders, Origin, SearchPaths, UntrustedApps};
use gangway_core::AppName;

use super::{plain, write};

fn name(text: &str) -> AppName {
    text.parse().unwrap()
}

fn app(folder: &Path, name: &str) {
    write(
        &folder.join(name),
        &[("APP.md", &plain(name)), ("index.html", "<p>Hello")],
    );
}

/// The apps of these folders, with a data folder in `there`.
fn registry_of(there: &Path, named: &[PathBuf], around: &SearchPaths) -> Arc<AppRegistry> {
    AppRegistry::new(named, around, Folders::at(&there.join("data")))
}

async fn names(registry: &Arc<AppRegistry>) -> Vec<String> {
    let apps = registry.list().await;
    let disk = apps.iter().filter(|app| app.origin != Origin::Builtin);
    disk.map(|app| app.name.to_string()).collect()
}

#[tokio::test]
async fn apps_are_found_in_folders_that_are_named_and_in_the_users_folders() {
    let there = tempfile::tempdir().unwrap();
    let at = |name: &str| there.path().join(name);
    app(&at("named"), "one");
    app(&at(""), "alone");
    app(&at("here/weblets"), "two");
    app(&at("path-a"), "three");
    app(&at("path-b"), "four");
    app(&at("home/.weblets"), "five");
    write(
        &at("named"),
        &[("no-app/index.html", "x"), ("file.txt", "x")],
    );
    let around = SearchPaths {
        here: Some(at("here")),
        path: Some(std::env::join_paths([at("path-a"), at("missing"), at("path-b")]).unwrap()),
        home: Some(at("home")),
    };
    Folders::at(&at("data"))
        .trust(&at("here/weblets"), true)
        .unwrap();
    let registry = registry_of(
        there.path(),
        &[at("named"), at("alone"), at("named")],
        &around,
    );
    assert_eq!(
        names(&registry).await,
        ["alone", "five", "four", "one", "three", "two"]
    );
    assert_eq!(
        registry.find(&name("one")).await.unwrap().origin,
        Origin::Named
    );
    assert_eq!(
        registry.find(&name("four")).await.unwrap().origin,
        Origin::Folder
    );
    assert_eq!(registry.find(&name("none")).await, None);
    assert_eq!(registry.strays().await, []);
}

#[tokio::test]
async fn of_two_apps_with_one_name_the_first_wins_and_the_other_is_reported() {
    let there = tempfile::tempdir().unwrap();
    let at = |name: &str| there.path().join(name);
    app(&at("b"), "same");
    app(&at("a"), "same");
    let registry = registry_of(there.path(), &[at("b"), at("a")], &SearchPaths::default());
    let app = registry.find(&name("same")).await.unwrap();
    assert_eq!(app.folder.path(), Some(&*at("b").join("same")));
    assert!(app.broken().is_none());
    assert!(
        app.problems[0].message.contains("another app named same"),
        "{:?}",
        app.problems
    );
    let strays = registry.strays().await;
    assert_eq!(strays.len(), 1);
    assert_eq!(Path::new(&strays[0].path), at("a").join("same"));
}

#[tokio::test(start_paused = true)]
async fn changes_on_disk_are_seen_within_a_second() {
    let there = tempfile::tempdir().unwrap();
    app(there.path(), "first");
    let registry = registry_of(
        there.path(),
        &[there.path().to_owned()],
        &SearchPaths::default(),
    );
    assert_eq!(names(&registry).await, ["first"]);
    app(there.path(), "second");
    // A scan is valid for a moment, so that serving a page needs no scan.
    assert_eq!(names(&registry).await, ["first"]);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(names(&registry).await, ["first", "second"]);

    let text = plain("first").replace("An app for tests.", "Another app.");
    write(there.path(), &[("first/APP.md", &text)]);
    std::fs::remove_dir_all(there.path().join("second")).unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(names(&registry).await, ["first"]);
    let first = registry.find(&name("first")).await.unwrap();
    assert_eq!(first.manifest.description, "Another app.");

    std::fs::remove_file(there.path().join("first/index.html")).unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    let first = registry.find(&name("first")).await.unwrap();
    assert_eq!(
        first.broken().unwrap().message,
        "`entry` is index.html, but it does not exist"
    );
}

#[tokio::test]
async fn broken_apps_are_shown_with_what_is_wrong() {
    let there = tempfile::tempdir().unwrap();
    let big = format!(
        "---\nname: big\ndescription: x\n---\n{}",
        "x".repeat(64 << 10)
    );
    write(
        there.path(),
        &[
            ("yaml/APP.md", "---\nname: [\n---\n"),
            ("big/APP.md", &big),
            ("Not A Name/APP.md", "no front matter"),
        ],
    );
    write(there.path(), &[("latin/index.html", "x")]);
    std::fs::write(
        there.path().join("latin/APP.md"),
        b"---\nname: latin\ndescription: \xe4\n---\n",
    )
    .unwrap();
    let registry = registry_of(
        there.path(),
        &[there.path().to_owned()],
        &SearchPaths::default(),
    );
    assert_eq!(names(&registry).await, ["big", "latin", "yaml"]);
    for (app, word) in [
        ("yaml", "invalid YAML"),
        ("big", "larger than 65536 bytes"),
        ("latin", "not valid UTF-8"),
    ] {
        let app = registry.find(&name(app)).await.unwrap();
        let text = &app.broken().unwrap().message;
        assert!(text.contains(word), "{text}");
    }
    let strays = registry.strays().await;
    assert!(strays[0].path.ends_with("Not A Name"), "{strays:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn links_out_of_an_apps_folder_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let there = tempfile::tempdir().unwrap();
    write(
        there.path(),
        &[("secret.html", "secret"), ("secret.md", &plain("linked"))],
    );
    write(
        &there.path().join("apps"),
        &[
            ("entry/APP.md", &plain("entry")),
            ("linked/index.html", "x"),
        ],
    );
    symlink(
        "../../secret.html",
        there.path().join("apps/entry/index.html"),
    )
    .unwrap();
    symlink("../../secret.md", there.path().join("apps/linked/APP.md")).unwrap();
    let registry = registry_of(
        there.path(),
        &[there.path().join("apps")],
        &SearchPaths::default(),
    );
    for app in ["entry", "linked"] {
        let app = registry.find(&name(app)).await.unwrap();
        let text = &app.broken().unwrap().message;
        assert!(
            text.contains("symlink to outside of the app's folder"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_folder_of_very_many_apps_is_scanned_in_part() {
    let there = tempfile::tempdir().unwrap();
    for n in 0..510 {
        app(there.path(), &format!("app-{n:04}"));
    }
    let registry = registry_of(
        there.path(),
        &[there.path().to_owned()],
        &SearchPaths::default(),
    );
    let names = names(&registry).await;
    assert_eq!(
        (names.len(), names.last().unwrap().as_str()),
        (500, "app-0499")
    );
}

#[tokio::test]
async fn an_app_in_another_folder_gets_a_name_of_its_own_and_keeps_it() {
    let there = tempfile::tempdir().unwrap();
    let at = |name: &str| there.path().join(name);
    app(&at("a"), "notes");
    app(&at("b"), "notes");
    let found = async |folder: &str| {
        let registry = registry_of(there.path(), &[at(folder)], &SearchPaths::default());
        registry.called(&name("notes")).await.unwrap()
    };
    let first = found("a").await;
    assert_eq!(first.name, name("notes"));
    let second = found("b").await;
    assert!(
        second.name.as_str().starts_with("notes-"),
        "{}",
        second.name
    );
    assert_eq!(second.manifest.name, name("notes"));
    assert_eq!(found("b").await.name, second.name);
    assert_eq!(found("a").await.name, name("notes"));
    // It is not found by the first one's name where the exact name is needed.
    let registry = registry_of(there.path(), &[at("b")], &SearchPaths::default());
    assert_eq!(registry.find(&name("notes")).await, None);

    // The real path counts.
    std::fs::rename(at("a"), at("moved")).unwrap();
    std::os::unix::fs::symlink(at("b"), at("a")).unwrap();
    assert_eq!(found("a").await.name, second.name);
}

#[tokio::test]
async fn the_weblets_of_a_project_are_not_even_read_before_the_folder_is_trusted() {
    let there = tempfile::tempdir().unwrap();
    let at = |name: &str| there.path().join(name);
    app(&at("project/weblets"), "notes");
    app(&at("elsewhere"), "other");
    write(&at("project/weblets"), &[("broken/APP.md", "---")]);
    let around = SearchPaths {
        here: Some(at("project")),
        ..SearchPaths::default()
    };
    let registry = registry_of(there.path(), &[], &around);
    assert_eq!(names(&registry).await, [""; 0]);
    assert_eq!(registry.strays().await, []);
    let folder = at("project/weblets").canonicalize().unwrap();
    let untrusted = [UntrustedApps { folder, apps: 2 }];
    assert_eq!(registry.untrusted().await, untrusted);

    let folders = &registry.folders;
    folders.trust(&at("project/weblets"), true).unwrap();
    std::os::unix::fs::symlink(at("elsewhere/other"), at("project/weblets/other")).unwrap();
    registry.forget();
    // Targets of symlinks to outside are not part of it.
    assert_eq!(names(&registry).await, ["broken", "notes"]);
    assert_eq!(registry.untrusted().await, []);

    // Another folder at the same path is another folder.
    std::fs::rename(at("project/weblets"), at("project/old")).unwrap();
    std::os::unix::fs::symlink(at("elsewhere"), at("project/weblets")).unwrap();
    registry.forget();
    assert_eq!(names(&registry).await, [""; 0]);
    assert_eq!(registry.untrusted().await[0].apps, 1);

    std::fs::remove_file(at("project/weblets")).unwrap();
    std::fs::rename(at("project/old"), at("project/weblets")).unwrap();
    registry.forget();
    assert_eq!(names(&registry).await, ["broken", "notes"]);
    folders.trust(&at("project/weblets"), false).unwrap();
    registry.forget();
    assert_eq!(names(&registry).await, [""; 0]);
}

#[tokio::test]
async fn nothing_is_loaded_while_the_owners_of_names_are_unknown() {
    let there = tempfile::tempdir().unwrap();
    app(&there.path().join("a"), "notes");
    write(there.path(), &[("data/apps.json", "{")]);
    let registry = registry_of(
        there.path(),
        &[there.path().join("a")],
        &SearchPaths::default(),
    );
    assert!(registry.list().await.is_empty());
}
