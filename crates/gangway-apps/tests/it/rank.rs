//! Ranking of apps for a query.

use std::sync::Arc;

use gangway_apps::{App, AppRegistry, Folders, Origin, SearchPaths, rank::rank};
use serde_json::Value;

use super::write;

fn set() -> Value {
    serde_saphyr::from_str(include_str!("rank.yaml")).unwrap()
}

async fn apps(set: &Value) -> (tempfile::TempDir, Vec<Arc<App>>) {
    let folder = tempfile::tempdir().unwrap();
    for app in set["apps"].as_array().unwrap() {
        let name = app["name"].as_str().unwrap();
        let mut front = app.clone();
        let front = front.as_object_mut().unwrap();
        let agent = serde_json::json!({"triggers": front["triggers"].take(), "provides": front["provides"].take()});
        front.retain(|key, _| key != "triggers" && key != "provides");
        front.insert("agent".to_owned(), agent);
        let text = format!("---\n{}\n---\n", serde_json::to_string(&front).unwrap());
        write(
            &folder.path().join(name),
            &[("APP.md", &text), ("index.html", "")],
        );
    }
    let apps = AppRegistry::new(
        &[folder.path().to_owned()],
        &SearchPaths::default(),
        Folders::only_read(folder.path()),
    )
    .list()
    .await;
    let apps: Vec<_> = apps
        .into_iter()
        .filter(|app| app.origin == Origin::Named)
        .collect();
    assert!(apps.len() >= 12 && apps.iter().all(|app| app.problems.is_empty()));
    (folder, apps)
}

#[tokio::test]
async fn the_app_that_is_meant_comes_first_nearly_always_and_among_the_first_three_always() {
    let set = set();
    let (_folder, apps) = apps(&set).await;
    let sentences = set["sentences"].as_array().unwrap();
    assert!(sentences.len() >= 30);
    let mut first = 0;
    for sentence in sentences {
        let (message, target) = (sentence[0].as_str().unwrap(), sentence[1].as_str().unwrap());
        let found = rank(Some(message), &apps);
        let names: Vec<&str> = found.iter().map(|(_, app)| app.name.as_str()).collect();
        let place = names.iter().position(|name| *name == target);
        assert!(
            place.is_some_and(|place| place < 3),
            "{message:?} means {target}, not {found:?}"
        );
        first += usize::from(place == Some(0));
        assert!(found.is_sorted_by(|(a, _), (b, _)| a >= b));
    }
    assert!(
        first * 10 >= sentences.len() * 9,
        "{first} of {}",
        sentences.len()
    );
}

#[tokio::test]
async fn a_sentence_that_means_nothing_finds_nothing_and_no_sentence_finds_all() {
    let set = set();
    let (_folder, apps) = apps(&set).await;
    for sentence in &set["nothing"].as_array().unwrap()[1..] {
        let found = rank(sentence.as_str(), &apps);
        assert!(found.is_empty(), "{sentence} {found:?}");
    }
    for none in [None, Some(""), Some("  ")] {
        let all = rank(none, &apps);
        assert_eq!(all.len(), apps.len());
        assert!(all.is_sorted_by(|(_, a), (_, b)| a.name <= b.name));
    }
}

#[tokio::test]
async fn a_very_long_question_is_answered_too() {
    let set = set();
    let (_folder, apps) = apps(&set).await;
    let long = format!("survey {}", "word ".repeat(1_000_000));
    assert_eq!(rank(Some(&long), &apps)[0].1.name.as_str(), "form-builder");
}

#[tokio::test]
async fn words_of_one_stem_find_each_other() {
    for (message, app) in [
        ("visualize", "data-visualization"),
        ("visualise it", "data-visualization"),
        ("visualization", "visualizer"),
        ("calculate", "calculator"),
        ("a player", "play-cards"),
        ("organized", "organizer"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in [app, "something-else"] {
            let text = format!("---\nname: {name}\ndescription: Thing.\n---\n");
            let files = [("APP.md", text.as_str()), ("index.html", "")];
            write(&folder.path().join(name), &files);
        }
        let named = [folder.path().to_owned()];
        let registry = AppRegistry::new(
            &named,
            &SearchPaths::default(),
            Folders::only_read(folder.path()),
        );
        let mut apps = registry.list().await;
        apps.retain(|app| app.origin == Origin::Named);
        let found = rank(Some(message), &apps);
        let names: Vec<_> = found.iter().map(|(_, app)| app.name.as_str()).collect();
        assert_eq!(names, [app], "{message}");
    }
}
