//! Drives the page of an app in a headless browser: performs steps and collects errors.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};

use super::{
    matching::{Fit, differences, shown},
    script::Step,
    wire::Wire,
};

/// Helpers injected into the page.
const HELP: &str = include_str!("page.js");

/// Default timeout of a step.
const STEP: Duration = Duration::from_secs(10);

/// Polling interval of a step.
const LOOK: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub(super) enum PageEvent {
    Done,
    Failed(String),
    /// An uncaught error.
    Threw(String),
    /// An error or warning on the console.
    Wrote(String),
    /// The page or browser is gone.
    Lost(String),
}

/// Performs steps one after the other.
pub(super) struct Page {
    steps: mpsc::Sender<Step>,
    news: mpsc::Receiver<PageEvent>,
    task: JoinHandle<()>,
}

impl Page {
    pub(super) async fn open(wire: Wire, url: &str) -> anyhow::Result<Self> {
        let (steps, todo) = mpsc::channel(1);
        let (tell, news) = mpsc::channel(256);
        let mut tab = Tab::attach(wire, tell).await?;
        let went = tab.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(why) = went["errorText"].as_str() {
            bail!("the browser cannot open {url}: {why}");
        }
        let task = tokio::spawn(tab.run(todo));
        Ok(Self { steps, news, task })
    }

    /// Starts a step; the previous one must be done.
    pub(super) async fn begin(&self, step: Step) {
        // A lost page is reported by `next`.
        let _ = self.steps.send(step).await;
    }

    /// The next event; cancel safe.
    pub(super) async fn next(&mut self) -> PageEvent {
        let lost = || PageEvent::Lost("the browser has exited".to_owned());
        self.news.recv().await.unwrap_or_else(lost)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A tab, over the DevTools protocol.
struct Tab {
    wire: Wire,
    session: Option<String>,
    last: u64,
    tell: mpsc::Sender<PageEvent>,
}

impl Tab {
    async fn attach(wire: Wire, tell: mpsc::Sender<PageEvent>) -> anyhow::Result<Self> {
        let mut tab = Self {
            wire,
            session: None,
            last: 0,
            tell,
        };
        // Downloads must not reach the user's folders.
        let deny = json!({ "behavior": "deny" });
        tab.call("Browser.setDownloadBehavior", deny).await?;
        let targets = tab.call("Target.getTargets", json!({})).await?;
        let targets = targets["targetInfos"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let page = targets.iter().find(|one| one["type"] == "page");
        let page = page.context("the browser has no page")?["targetId"].clone();
        let request = json!({ "targetId": page, "flatten": true });
        let attached = tab.call("Target.attachToTarget", request).await?;
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime.enable", "Page.enable"] {
            tab.call(domain, json!({})).await?;
        }
        Ok(tab)
    }

    /// Performs steps and receives events in between.
    async fn run(mut self, mut todo: mpsc::Receiver<Step>) {
        loop {
            let received = tokio::select! {
                step = todo.recv() => match step {
                    Some(step) => {
                        let news = match self.act(&step).await {
                            Ok(()) => PageEvent::Done,
                            Err(error) => PageEvent::Failed(format!("{}: {error:#}", step.describe())),
                        };
                        if self.tell.send(news).await.is_err() {
                            return;
                        }
                        continue;
                    }
                    None => return,
                },
                received = self.wire.receive() => received,
            };
            let went_on = match received {
                Ok(message) => self.note(&message).await,
                Err(error) => Err(error),
            };
            if let Err(error) = went_on {
                let lost =
                    PageEvent::Lost(format!("lost the connection to the browser: {error:#}"));
                let _ = self.tell.send(lost).await;
                return;
            }
        }
    }

    async fn send(&mut self, method: &str, params: Value) -> anyhow::Result<u64> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.wire.send_message(&message).await?;
        Ok(self.last)
    }

    async fn call(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.send(method, params).await?;
        loop {
            let mut message = self.wire.receive().await?;
            if message["id"] != id {
                self.note(&message).await?;
                continue;
            }
            if let Some(error) = message["error"]["message"].as_str() {
                bail!("{method}: {error}");
            }
            return Ok(message["result"].take());
        }
    }

    /// Handles an event of the browser.
    async fn note(&mut self, message: &Value) -> anyhow::Result<()> {
        let params = &message["params"];
        let news = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                PageEvent::Threw(thrown(&params["exceptionDetails"]))
            }
            Some("Runtime.consoleAPICalled") => {
                let kind = params["type"].as_str().unwrap_or_default();
                if !matches!(kind, "error" | "warning" | "assert") {
                    return Ok(());
                }
                let parts = params["args"].as_array().cloned().unwrap_or_default();
                let words: Vec<String> = parts.iter().map(spoken).collect();
                PageEvent::Wrote(format!("console {kind}: {}", words.join(" ")))
            }
            Some("Page.javascriptDialogOpening") => {
                // Dialogs are accepted.
                let yes = json!({ "accept": true });
                self.send("Page.handleJavaScriptDialog", yes).await?;
                PageEvent::Wrote(format!("dialog: {}", shown(&params["message"])))
            }
            Some("Inspector.targetCrashed") => bail!("the page crashed"),
            Some("Inspector.detached") => bail!("the page was closed"),
            _ => return Ok(()),
        };
        // The receiver is dropped when the run is over.
        let _ = self.tell.send(news).await;
        Ok(())
    }

    async fn act(&mut self, step: &Step) -> anyhow::Result<()> {
        let within = step.within.map_or(STEP, Duration::from_millis);
        let late = Instant::now() + within;
        if let Some(selector) = &step.click {
            let spot = self.until(late, "click", &json!([selector])).await?;
            for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
                let pressed = if kind == "mouseMoved" { "none" } else { "left" };
                let event = json!({ "type": kind, "x": spot["x"], "y": spot["y"], "button": pressed, "clickCount": 1 });
                self.call("Input.dispatchMouseEvent", event).await?;
            }
        } else if let Some(selector) = &step.fill {
            let value = step.value.clone().unwrap_or_default();
            self.until(late, "fill", &json!([selector, value])).await?;
        } else if let Some(selector) = &step.wait {
            let wanted = json!([selector, step.text]);
            self.until(late, "wait", &wanted).await?;
        } else if let Some(selector) = &step.gone {
            self.until(late, "gone", &json!([selector])).await?;
        } else if let Some(key) = &step.press {
            self.press(key).await?;
        } else if let Some(code) = &step.eval {
            let given = timeout_at(late, self.evaluate(code)).await;
            let given =
                given.map_err(|_| anyhow!("timed out after {} ms", within.as_millis()))??;
            if let Some(wanted) = &step.is {
                let against = differences(wanted, &given, Fit::Whole);
                if !against.is_empty() {
                    bail!("unexpected result:\n{}", against.join("\n"));
                }
            }
        } else if let Some(pause) = step.pause {
            sleep(Duration::from_millis(pause)).await;
        }
        Ok(())
    }

    /// Polls the page until its condition is met.
    async fn until(&mut self, late: Instant, what: &str, with: &Value) -> anyhow::Result<Value> {
        let code = format!("({HELP}).{what}(...{with})");
        let mut why = "the page did not answer".to_owned();
        loop {
            match timeout_at(late, self.evaluate(&code)).await {
                Ok(Ok(found)) => match found["wait"].as_str() {
                    Some(wait) => why = wait.to_owned(),
                    None => return Ok(found),
                },
                // While a page loads there is no execution context for a moment.
                Ok(Err(error)) if error.to_string().contains("context") => why = error.to_string(),
                Ok(Err(error)) => return Err(error),
                Err(_) => bail!("{why}"),
            }
            if Instant::now() >= late {
                bail!("{why}");
            }
            sleep(LOOK).await;
        }
    }

    async fn evaluate(&mut self, code: &str) -> anyhow::Result<Value> {
        let request = json!({
            "expression": code, "awaitPromise": true, "returnByValue": true, "userGesture": true, "replMode": true,
        });
        let mut answer = self.call("Runtime.evaluate", request).await?;
        if answer["exceptionDetails"].is_object() {
            bail!("{}", thrown(&answer["exceptionDetails"]));
        }
        Ok(answer["result"]["value"].take())
    }

    async fn press(&mut self, key: &str) -> anyhow::Result<()> {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            "Tab" => ("\t", 9),
            "Space" | " " => (" ", 32),
            "Escape" => ("", 27),
            "Backspace" => ("", 8),
            "Delete" => ("", 46),
            "PageUp" => ("", 33),
            "PageDown" => ("", 34),
            "End" => ("", 35),
            "Home" => ("", 36),
            "ArrowLeft" => ("", 37),
            "ArrowUp" => ("", 38),
            "ArrowRight" => ("", 39),
            "ArrowDown" => ("", 40),
            one if one.chars().count() == 1 => (one, 0),
            other => bail!(
                "unknown key {other}; use a character or a name such as Enter, Escape or ArrowLeft"
            ),
        };
        let name = if key == "Space" { " " } else { key };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": name, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }
}

/// The first lines of an exception.
fn thrown(details: &Value) -> String {
    let described = details["exception"]["description"].as_str();
    let message = described.or(details["text"].as_str()).unwrap_or("an error");
    let lines: Vec<&str> = message.lines().take(4).map(str::trim).collect();
    lines.join(" ").chars().take(600).collect()
}

/// A console argument as text.
fn spoken(part: &Value) -> String {
    let text = part["value"].as_str().or(part["description"].as_str());
    text.map_or_else(
        || shown(&part["value"]),
        |text| text.chars().take(400).collect(),
    )
}
