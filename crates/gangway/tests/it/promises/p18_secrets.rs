//! P18: a key stays where it was put.

mod pages;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::planted::{Planted, echo};
use crate::support::Gangway;

const KINDS: [&str; 3] = ["openai", "anthropic", "ollama"];

/// Everything that was answered, printed or written, with the place it was found in.
#[derive(Default)]
struct Seen(Vec<(String, Vec<u8>)>);

impl Seen {
    fn add(&mut self, place: &str, text: impl Into<Vec<u8>>) {
        self.0.push((place.to_owned(), text.into()));
    }

    /// Runs a command to its end; what it printed.
    fn run(&mut self, mut command: Command, input: &str) -> String {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses does not read what it was given.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        self.add(&format!("{:?}", command.get_args()), message.clone());
        message
    }

    /// Makes a request; the whole answer, head and body.
    async fn ask(&mut self, request: RequestBuilder) -> (u16, String) {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let place = format!("{} {}", request.method(), request.url().path());
        let response = client.execute(request).await.unwrap();
        let (status, head) = (response.status(), format!("{:?}", response.headers()));
        let body = response.text().await.unwrap();
        self.add(&place, format!("{head}\n{body}"));
        (status.as_u16(), body)
    }
}

/// A running Gangway with keys in every place where one can be, and what it shows.
struct Stage {
    planted: Planted,
    seen: Seen,
    server: Gangway,
    folder: tempfile::TempDir,
    http: reqwest::Client,
}

impl Stage {
    /// Keys in the environment and by the command line, then a server that logs all it can and opens a browser.
    async fn set() -> Self {
        let (mut planted, mut seen) = (Planted::new(), Seen::default());
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let at = echo().await;
        let mut providers = BTreeMap::new();
        let mut environment = Vec::new();
        for kind in KINDS {
            for source in ["env", "cli", "web"] {
                let name = format!("{source}-{kind}");
                let base = format!("http://{at}/{kind}");
                // Shells drop variables whose names hold a hyphen.
                let variable = name.replace('-', "_");
                let provider = json!({ "type": kind, "base_url": base, "key": variable });
                providers.insert(name.clone(), provider);
                match source {
                    "env" => environment.push((variable, planted.key(&name))),
                    "cli" => {
                        let mut set = Gangway::command(&data);
                        set.args(["secrets", "set", &variable]);
                        let message = seen.run(set, &planted.key(&name));
                        assert!(message.contains("Stored "), "{message}");
                    }
                    _ => {}
                }
            }
        }
        let password = planted.key("password in an address");
        environment.push(("OPENAI_API_KEY".into(), planted.key("OPENAI_API_KEY")));
        environment.push(("OPENAI_BASE_URL".into(), format!("http://{at}/v1")));
        environment.push((
            "OLLAMA_HOST".into(),
            format!("http://me:{password}@127.0.0.1:9"),
        ));
        let config = json!({ "models": { "detect": false, "retries": 0 }, "providers": providers });
        fs::write(data.join("config.yaml"), config.to_string()).unwrap();

        // A fake desktop that prints what it gets.
        let opener = folder.path().join("xdg-open");
        let script = format!(
            "#!/bin/sh\n(env; echo \"$@\") > {}/child\n",
            folder.path().display()
        );
        fs::write(&opener, script).unwrap();
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Gangway::command(&data);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--open"])
            .args(["--log-level", "trace", "--log-format", "json"])
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .env("DISPLAY", ":99")
            .envs(environment);
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let server = Gangway::spawn_logging(command, log);
        Self {
            planted,
            seen,
            http: server.http.clone(),
            server,
            folder,
        }
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    fn request(&self, method: Method, path: &str, body: Option<&Value>) -> RequestBuilder {
        let url = format!("{}{path}", self.server.url);
        let request = self.http.request(method, url);
        match body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    async fn call(&mut self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let request = self.request(method, path, Some(&body));
        let (status, text) = self.seen.ask(request).await;
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    async fn get(&mut self, path: &str) -> (u16, String) {
        let request = self.request(Method::GET, path, None);
        self.seen.ask(request).await
    }

    fn command(&mut self, arguments: &[&str]) -> String {
        let mut command = Gangway::command(&self.data());
        command.args(arguments);
        self.seen.run(command, "")
    }

    /// Keys that come in over HTTP, replaced and forgotten ones among them, and Gangway's own.
    async fn plant_over_http(&mut self) -> String {
        for kind in KINDS {
            let path = format!("/api/providers/web-{kind}/key");
            for turn in ["replaced", "forgotten", "kept"] {
                let key = self.planted.key(&format!("{turn} web-{kind}"));
                let (status, info) = self.call(Method::PUT, &path, json!({ "key": key })).await;
                assert_eq!(status, 200, "{info}");
                if turn == "forgotten" {
                    self.call(Method::DELETE, &path, json!({})).await;
                }
            }
        }
        // The note beside the data lets commands in; what they make is printed once, and not looked at here.
        let note = fs::read(self.data().join("server.lock")).unwrap();
        let note: Value = serde_json::from_slice(&note).unwrap();
        let token = note["token"].as_str().unwrap();
        self.planted.learn("the local token", token);
        let made = self.request(
            Method::POST,
            "/api/keys",
            Some(&json!({ "name": "a", "scopes": ["admin"] })),
        );
        let made = made.bearer_auth(token).send().await.unwrap();
        let made: Value = made.json().await.unwrap();
        let key = self
            .planted
            .learn("key by HTTP", made["key"].as_str().unwrap());
        let made = Gangway::run(
            &self.data(),
            &["key", "create", "--name", "b", "--scope", "chat", "--json"],
        );
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        self.planted
            .learn("key by command", made["key"].as_str().unwrap());
        self.command(&["key", "revoke", made["id"].as_str().unwrap()]);
        // A browser's login, whose token is in one answer alone.
        let login = self.request(Method::POST, "/api/login", Some(&json!({ "key": key })));
        let login = login
            .header("origin", &self.server.url)
            .send()
            .await
            .unwrap();
        let login: Value = login.json().await.unwrap();
        let token = login["token"].as_str().unwrap().to_owned();
        self.planted.learn("a login", &token);
        self.request(Method::GET, "/api/sessions", None)
            .bearer_auth(&token)
            .send()
            .await
            .unwrap();
        key
    }

    /// Keys in places where none belongs.
    async fn misplace(&mut self) {
        let stray = self.planted.key("in a wrong place");
        let put = "/api/providers/web-openai/key";
        let wrong = [
            (Method::PUT, put, json!(stray)),
            (Method::PUT, put, json!({ "key": [stray] })),
            (Method::PUT, put, json!({ "key": { "value": stray } })),
            (
                Method::PUT,
                put,
                json!({ "key": format!("{stray}\n") + "x" }),
            ),
            (
                Method::PUT,
                "/api/providers/env-openai/key",
                json!({ "key": stray }),
            ),
            (Method::POST, "/api/login", json!({ "key": stray })),
            (Method::POST, "/api/login", json!(stray)),
            (Method::POST, "/v1/chat/completions", json!(stray)),
            (
                Method::POST,
                "/v1/chat/completions",
                json!({ "messages": stray }),
            ),
        ];
        for (method, path, body) in wrong {
            let (status, answer) = self.call(method, path, body).await;
            assert!((400..500).contains(&status), "{path}: {answer}");
        }
        for path in ["/v1/models", "/api/sessions"] {
            let request = self.request(Method::GET, path, None);
            let (status, _) = self.seen.ask(request.bearer_auth(&stray)).await;
            assert_eq!(status, 401, "{path}");
        }
        self.get(&format!("/api/sessions?key={stray}")).await;
        // What the shell shows is not ours; what we print is.
        let mut set = Gangway::command(&self.data());
        set.args(["secrets", "set", "A"]).arg(&stray);
        let output = set.output().unwrap();
        self.seen.add("secrets set", output.stderr);
        let file = self.folder.path().join("wrong.yaml");
        for line in [
            format!("key: {stray}"),
            format!("api_key: {stray}"),
            format!("key: [{stray}]"),
            format!("base_url: 'me:{stray}@nas'"),
        ] {
            let text = format!("providers:\n  a:\n    type: openai\n    {line}\n");
            fs::write(&file, text).unwrap();
            let message = self.command(&["config", "check", file.to_str().unwrap()]);
            assert!(message.starts_with("gangway: "), "{message}");
        }
        fs::remove_file(file).unwrap();
    }

    /// Every page and list, and every command that shows something.
    async fn look_around(&mut self, key: &str) {
        self.call(Method::POST, "/api/providers/detect", json!({}))
            .await;
        let chosen = json!({ "model": "env-openai" });
        self.call(Method::PUT, "/api/models/default", chosen).await;
        let document = serde_json::to_value(gangway::openapi::openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        let lists = paths.filter(|(path, methods)| {
            methods.get("get").is_some() && !path.contains('{') && *path != "/api/history"
        });
        let mut lists: Vec<_> = lists.map(|(path, _)| path.as_str()).collect();
        lists.extend(["/", "/models", "/metrics", "/api/docs", "/api/openapi.json"]);
        for path in lists {
            let request = self.request(Method::GET, path, None).bearer_auth(key);
            let (status, _) = self.seen.ask(request).await;
            // Routes that require a query return an error, which is checked too.
            let wants = &document["paths"][path]["get"]["parameters"][0]["required"];
            assert_eq!(status, if *wants == true { 400 } else { 200 }, "{path}");
        }
        for arguments in [
            &["secrets", "list"][..],
            &["secrets", "list", "--json"],
            &["secrets", "remove", "nothing"],
            &["key", "list"],
            &["key", "list", "--json"],
            &["models", "list", "--json"],
            &["config", "check", "--json"],
            &["serve", "--listen", "127.0.0.1:0"],
        ] {
            self.command(arguments);
        }
    }

    fn hits(&self, folder: &Path, but: &[&str]) -> Vec<String> {
        self.planted.found_below(folder, but)
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// P18
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planted_key_is_found_nowhere_but_where_it_was_put() {
    let mut stage = Stage::set().await;
    let key = stage.plant_over_http().await;
    stage.misplace().await;
    for kind in KINDS {
        for source in ["env", "cli", "web"] {
            stage.talk(&format!("{source}-{kind}")).await;
        }
    }
    stage.talk("openai").await;
    stage.visit().await;
    stage.look_around(&key).await;
    assert!(stage.planted.count() >= 20, "{}", stage.planted.count());

    let (data, outside) = (stage.data(), stage.folder.path().to_owned());
    // The search itself finds what is there: stored keys in their file, the token in its note.
    let stored = fs::read(data.join("secrets/credentials.json")).unwrap();
    assert_eq!(stage.planted.found("credentials", &stored).len(), 6);
    let note = fs::read(data.join("server.lock")).unwrap();
    assert_eq!(
        stage.planted.found("note", &note),
        ["the local token in note"]
    );
    for (path, expected) in [
        ("", 0o700),
        ("secrets", 0o700),
        ("secrets/credentials.json", 0o600),
        ("server.lock", 0o600),
    ] {
        assert_eq!(mode(&data.join(path)), expected, "{path:?}");
    }

    let mut hits = Vec::new();
    for (place, bytes) in &stage.seen.0 {
        hits.extend(stage.planted.found(place, bytes));
    }
    let line = fs::read(format!("/proc/{}/cmdline", stage.server.child.id())).unwrap();
    hits.extend(stage.planted.found("the command line", &line));
    let child = fs::read(outside.join("child")).expect("no browser was opened");
    assert!(child.windows(5).any(|word| word == b"PATH="));
    // The log and what the browser was given lie beside the data.
    hits.extend(stage.hits(&outside, &["secrets/credentials.json", "server.lock"]));
    let log = fs::read_to_string(outside.join("log")).unwrap();
    assert!(log.contains("\"level\":\"TRACE\"") || log.contains("\"level\":\"DEBUG\""));

    // After the end the note is empty, and the database has been folded into one file.
    stage.server.terminate();
    stage.server.child.wait().unwrap();
    hits.extend(stage.hits(&outside, &["secrets/credentials.json"]));
    assert!(hits.is_empty(), "{hits:#?}");
    assert!(stage.seen.0.len() > 200, "{}", stage.seen.0.len());
}
