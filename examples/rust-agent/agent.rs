//! Books movie tickets from a sentence, by rules: agent "two seats for a comedy on Saturday evening, near the front"
//! A booking that is under way is gone on with. On any other page it uses one tool: agent 'switch {"on": true}'
//! Needs tokio, tokio-tungstenite, futures-util and serde_json; GANGWAY_URL and GANGWAY_SESSION (of a page, or a chat) say where, GANGWAY_KEY is a key or token.
#![allow(clippy::print_stdout, reason = "a program for a terminal")]
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
const COUNTS: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
const DAYPARTS: [[&str; 3]; 4] = [["morning", "06", "12"], ["afternoon", "12", "17"], ["evening", "17", "21:30"], ["night", "20:30", "24"]];

struct Agent {
    wish: String,
    count: usize,
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    last: u32,
    prefix: String,
}

impl Agent {
    async fn say(&mut self, kind: &str, payload: Value) -> Result<String> {
        self.last += 1;
        let id = format!("q{}", self.last);
        self.socket.send(Message::text(json!({ "v": "mvp-0.2", "type": kind, "id": id, "payload": payload }).to_string())).await?;
        Ok(id)
    }

    async fn ask(&mut self, kind: &str, payload: Value) -> Result<Value> {
        let id = self.say(kind, payload).await?;
        loop {
            let Message::Text(text) = self.socket.next().await.ok_or("The relay is gone.")?? else { continue };
            let mut answer: Value = serde_json::from_str(&text)?;
            if answer["replyTo"] == *id {
                let payload = answer["payload"].take();
                let text = |name: &str| payload[name].as_str().unwrap_or_default();
                return if answer["type"] == "error" { Err(format!("{}: {}", text("code"), text("message")))? } else { Ok(payload) };
            }
        }
    }

    async fn act(&mut self, tool: &str, params: Value, reason: &str) -> Result<Value> {
        println!("{tool} {params}: {reason}");
        let name = format!("{}{tool}", self.prefix);
        self.ask("tool.call", json!({ "toolName": name, "params": params, "reason": reason })).await
    }

    /// What the page shows; in a chat that is its booking page, whose tools have its name before theirs.
    async fn look(&mut self) -> Result<Value> {
        let mut shown = self.ask("snapshot.get", json!({})).await?;
        let is_booking = |page: &Value| page["kind"] == "relay" && page["state"]["state"]["booking"].is_object();
        if let Some(page) = list(&shown["uiSpec"]["pages"]).into_iter().find(is_booking) {
            self.prefix = format!("{}/", page["server"].as_str().unwrap_or_default());
            shown["uiSpec"] = page["state"].clone();
        }
        Ok(shown)
    }

    /// The item that most of the wishes hold for, and of several the first.
    fn best(&self, items: &[Value]) -> Value {
        let [_, from, to] = DAYPARTS.into_iter().find(|[part, ..]| self.wish.contains(part)).unwrap_or(["", "00", "24"]);
        let fit = |item: &&Value| {
            let says = |field: &&str| item[field].as_str().is_some_and(|text| self.wish.contains(&text.to_lowercase()));
            let in_time = item["time"].as_str().is_some_and(|time| time >= from && time < to);
            u8::from(["title", "genre", "name"].iter().any(says)) + u8::from(says(&"weekday")) + u8::from(in_time)
        };
        items.iter().rev().filter(|item| item["isDisabled"] != true).max_by_key(fit).map_or(Value::Null, |item| item["id"].clone())
    }

    /// Free seats side by side, as near to the wished row as can be.
    fn seats(&self, items: &[Value]) -> Vec<Value> {
        let mut rows: Vec<(usize, &[Value])> = items.chunk_by(|a, b| a["row"] == b["row"]).enumerate().collect();
        let back = if self.wish.contains("back") { rows.len().saturating_sub(1) } else { rows.len() / 2 };
        rows.sort_by_key(|(at, _)| at.abs_diff(if self.wish.contains("front") { 1 } else { back }));
        let is_free = |seat: &Value| seat["isDisabled"] != true && seat["kind"] != "accessible";
        let found = rows.into_iter().find_map(|(_, row)| row.windows(self.count).find(|group| group.iter().all(is_free)));
        found.into_iter().flatten().map(|seat| seat["id"].clone()).collect()
    }

    /// Makes the missing choices on the current stage and goes to the next; existing choices are kept.
    async fn settle(&mut self, spec: &Value) -> Result<Value> {
        let (stage, items, state) = (spec["stage"].as_str().unwrap_or_default(), list(&spec["items"]), &spec["state"]);
        let chosen = list(&state["selectedList"]);
        if stage == "seat" && chosen.len() != self.count {
            for seat in chosen.iter().map(|seat| seat["id"].clone()).chain(self.seats(&items)) {
                self.act("select", json!({ "itemId": seat }), "Side by side, as near as wished; others are let go.").await?;
            }
        } else if stage == "ticket" {
            let (seats, counted) = (list(&state["booking"]["seats"]).len(), list(&state["quantities"]));
            let wanted = if seats == 0 { self.count as u64 } else { seats as u64 };
            let count = |kind: &Value| kind["count"].as_u64().unwrap_or_default();
            if counted.iter().map(count).sum::<u64>() != wanted {
                let before = counted.iter().filter(|kind| count(kind) > 0).map(|kind| (kind["item"]["id"].clone(), 0));
                for (kind, n) in before.chain([(self.best(&items), wanted)]) {
                    self.act("setQuantity", json!({ "typeId": kind, "quantity": n }), "One for each seat.").await?;
                }
            }
        } else if !["seat", "confirm"].contains(&stage) && state["selected"].is_null() {
            self.act("select", json!({ "itemId": self.best(&items) }), &format!("Fits \"{}\" best.", self.wish)).await?;
        }
        self.act("next", json!({}), &format!("The {stage} is settled.")).await
    }

    /// A page without a booking: uses the tool in the request, such as `switch {"on": true}`, or lists the tools.
    async fn other(&mut self, request: &str, shown: &Value) -> Result<u8> {
        let tools = list(&shown["toolSchema"]);
        let (name, params) = request.trim().split_once(' ').unwrap_or((request.trim(), "{}"));
        if tools.iter().any(|tool| tool["name"] == name) {
            let done = self.act(name, serde_json::from_str(params)?, "The person asked for it.").await?;
            println!("{name}: {}", done.get("result").unwrap_or(&json!("done")));
            return Ok(0);
        }
        if tools.is_empty() {
            println!("{} has no tools now; open a page that offers some.", shown["uiSpec"]["title"]);
            return Ok(2);
        }
        println!("The page {} has no booking. Name one of its tools, with params as JSON:", shown["uiSpec"]["title"]);
        for tool in tools {
            let params: Vec<_> = tool["parameters"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
            println!("  {} ({}): {}", text("name"), params.join(", "), text("description"));
        }
        self.say("agent.message", json!({ "text": "I book movie tickets, and there is no booking on this page." })).await?;
        Ok(2)
    }

    async fn run(&mut self, request: &str) -> Result<u8> {
        for step in 0..30 {
            // If the page is missing, a seat was taken or the user was faster: read the page again and continue.
            match self.look().await {
                Ok(shown) if shown["uiSpec"].is_null() => println!("The page shows nothing yet."),
                Ok(shown) => match shown["uiSpec"]["state"]["booking"]["status"].as_str() {
                    None => return self.other(request, &shown).await,
                    Some("cancelled") => return Err("The booking was cancelled.".into()),
                    Some("booked") => {
                        let code = shown["uiSpec"]["state"]["booking"]["code"].as_str().unwrap_or_default();
                        println!("{}: {code}", if step == 0 { "Already booked" } else { "Booked" });
                        return Ok(0);
                    }
                    Some(_) => match self.settle(&shown["uiSpec"]).await {
                        Ok(_) => continue,
                        Err(problem) => println!("{problem}"),
                    },
                },
                Err(problem) => println!("{problem}"),
            }
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        Err("It came to no end.".into())
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<std::process::ExitCode> {
    let variable = |name: &str, other: &str| std::env::var(name).unwrap_or_else(|_| other.into());
    let message = std::env::args().nth(1).unwrap_or_else(|| "one seat".into());
    let request = message.to_lowercase();
    let number = |word: &str| word.parse().ok().or_else(|| COUNTS.iter().position(|count| *count == word).map(|at| at + 1));
    let count = request.split(|c: char| !c.is_alphanumeric()).find_map(number).unwrap_or(1).max(1);
    let url = variable("GANGWAY_URL", "http://127.0.0.1:3000").replacen("http", "ws", 1);
    let url = format!("{url}/agent/ws?token={}", variable("GANGWAY_KEY", ""));
    let mut agent = Agent { wish: request, count, socket: connect_async(url).await?.0, last: 0, prefix: String::new() };
    agent.ask("relay.join", json!({ "role": "agent", "sessionId": variable("GANGWAY_SESSION", "default") })).await?;
    let code = agent.run(&message).await?;
    agent.socket.close(None).await?;
    Ok(code.into())
}
