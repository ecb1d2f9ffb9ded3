//! Personas that are written in the browser.

use reqwest::Method;
use serde_json::{Value, json};

use super::{SKILL, Yard, answered};

async fn text(remote: &Yard, method: Method, slug: &str, body: Option<Value>) -> (u16, Value) {
    let url = format!("{}/api/personas/{slug}/text", remote.base);
    let request = remote.owner.request(method, url);
    answered(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

async fn get(remote: &Yard, slug: &str) -> Value {
    let (status, text) = text(remote, Method::GET, slug, None).await;
    assert_eq!(status, 200, "{text}");
    text
}

async fn put(remote: &Yard, slug: &str, body: Value) -> (u16, Value) {
    text(remote, Method::PUT, slug, Some(body)).await
}

#[tokio::test]
async fn a_persona_is_written_changed_and_removed_with_its_texts() {
    let remote = Yard::open().await;
    let (status, made) = put(&remote, "guide", json!({ "skill": "Know the way." })).await;
    assert_eq!(status, 200, "{made}");
    let first = get(&remote, "guide").await;
    assert_eq!(
        (&first["skill"], &first["experience"], &first["from"]),
        (&json!("Know the way."), &Value::Null, &json!("added"))
    );
    assert_eq!(first["version"], made["version"]);
    let folder = remote.data().join("personas/guide");
    let change =
        json!({ "skill": "Know it all.", "experience": "Lost once.", "version": first["version"] });
    let (status, changed) = put(&remote, "guide", change.clone()).await;
    assert_eq!(status, 200, "{changed}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(
        (read("skill.md"), read("experience.md")),
        ("Know it all.".into(), "Lost once.".into())
    );
    // Neither an editor with the old texts nor an edit of the file overwrites the new ones.
    let (status, error) = put(&remote, "guide", change).await;
    assert_eq!((status, &error["error_code"]), (409, &json!("conflict")));
    std::fs::write(folder.join("skill.md"), "By hand.").unwrap();
    let late = json!({ "skill": "Late.", "version": changed["version"] });
    assert_eq!(put(&remote, "guide", late).await.0, 409);
    assert_eq!(read("skill.md"), "By hand.");
    let (status, _) = put(&remote, "guide", json!({ "skill": "Another." })).await;
    assert_eq!(status, 409);
    // An agent is made of it.
    let mut request = super::create_request("Hi.");
    request["persona_slug"] = "guide".into();
    let agent = remote.made(request).await;
    remote.until_state(&agent, "complete").await;
    let message = remote.model.asked()[0]["messages"][0]["content"].to_string();
    assert!(message.starts_with("\"By hand."), "{message}");
    // No experience is no file.
    let version = get(&remote, "guide").await["version"].clone();
    let none = json!({ "skill": "Short.", "experience": " ", "version": version });
    assert_eq!(put(&remote, "guide", none).await.0, 200);
    assert!(!folder.join("experience.md").exists());
    let url = format!("{}/api/personas/guide", remote.base);
    assert_eq!(answered(remote.owner.delete(&url)).await.0, 200);
    assert!(!folder.exists());
    assert_eq!(text(&remote, Method::GET, "guide", None).await.0, 404);
}

#[tokio::test]
async fn a_persona_of_the_config_is_read_and_not_written() {
    let remote = Yard::open().await;
    let clerk = get(&remote, "clerk").await;
    assert_eq!(
        (&clerk["skill"], &clerk["from"]),
        (&json!(SKILL), &json!("config"))
    );
    let change = json!({ "skill": "Evil.", "version": clerk["version"] });
    let (status, error) = put(&remote, "clerk", change).await;
    assert_eq!((status, &error["error_code"]), (409, &json!("in_config")));
    assert_eq!(
        std::fs::read_to_string(remote.clerk().join("skill.md")).unwrap(),
        SKILL
    );
}

#[tokio::test]
async fn a_folder_of_the_user_is_edited_in_place_and_stays_when_its_persona_goes() {
    let remote = Yard::open().await;
    let outside = tempfile::tempdir().unwrap();
    let (real, folder) = (outside.path().join("real.md"), outside.path().join("mine"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&real, "Mine.").unwrap();
    std::os::unix::fs::symlink("../real.md", folder.join("skill.md")).unwrap();
    let url = format!("{}/api/personas/mine", remote.base);
    let stored = remote.owner.put(&url).json(&json!({ "folder": folder }));
    assert_eq!(answered(stored).await.0, 200);
    let version = get(&remote, "mine").await["version"].clone();
    let change = json!({ "skill": "Yours.", "version": version });
    assert_eq!(put(&remote, "mine", change).await.0, 200);
    // A link stays one, and leads to the new text.
    assert!(folder.join("skill.md").is_symlink());
    assert_eq!(std::fs::read_to_string(real).unwrap(), "Yours.");
    assert_eq!(answered(remote.owner.delete(&url)).await.0, 200);
    assert!(folder.join("skill.md").exists());
}

#[tokio::test]
async fn slugs_that_lead_elsewhere_texts_that_are_too_long_and_others_than_the_owner_write_nothing()
{
    let remote = Yard::open().await;
    for slug in ["..%2f..%2fevil", "%2e%2e", "A", "a%20b", "-a"] {
        let (status, _) = put(&remote, slug, json!({ "skill": "x" })).await;
        assert!(matches!(status, 400 | 404), "{slug}: {status}");
    }
    let long = "x".repeat((256 << 10) + 1);
    let (status, error) = put(&remote, "long", json!({ "skill": long })).await;
    assert_eq!(status, 400);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("at most 262144 bytes")
    );
    let key = remote.server.key("agents").await;
    let url = format!("{}/api/personas/guide/text", remote.base);
    let request = remote.http.put(&url).json(&json!({ "skill": "x" }));
    let (status, error) = answered(request.bearer_auth(key.key)).await;
    assert_eq!(
        (status, &error["error_code"]),
        (403, &json!("scope_required"))
    );
    let (status, _) = answered(remote.http.get(&url)).await;
    assert_eq!(status, 401);
    assert!(!remote.data().join("personas").exists());
}
