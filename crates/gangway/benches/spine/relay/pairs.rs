//! Pages and agents that do next to nothing themselves, two in each session of a relay.

use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use super::nats;
use crate::{frames::Page, machine::Measured, wire::websocket};

/// Every message of a client begins so.
const HEAD: &str = r#"{"v":"mvp-0.2","type":""#;

/// What an agent says, of about 200 bytes with all that is around it.
const CALL: &str = r#"{"toolName":"select","params":{"itemId":"showing-2041"},"reason":"It is the earliest one after six, with two seats side by side."}"#;

/// What a page answers, of about 500 bytes with all that is around it.
const RESULT: &str = r#"{"ok":true,"toolName":"select","uiSpec":{"stage":"time","title":"What time?","visibleItems":[{"id":"showing-2040","value":"17:30"},{"id":"showing-2041","value":"18:15"},{"id":"showing-2042","value":"20:45","isDisabled":true}],"state":{"selected":{"id":"showing-2041","value":"18:15"},"booking":{"status":"open"}},"display":{"valueField":"time","component":"buttonGroup"},"meta":{"step":4,"steps":7,"canGoOn":true}},"messageHistory":[],"meta":{"historyTotal":12}}"#;

/// What a page shows, with the tool that MCP clients call.
const SNAPSHOT: &str = r#"{"uiSpec":{"stage":"time"},"messageHistory":[],"toolSchema":[{"name":"select","description":"Selects an item","parameters":{"itemId":{"type":"string","description":"The item"}}}]}"#;

/// How a relay lets clients in.
#[derive(Clone, Copy)]
pub enum Door {
    /// Ours: they join a session, and a study of it is begun, so that everything is logged.
    Gangway,
    /// Two that come one after the other are a session.
    InTurn,
    /// NATS: two subjects are a session.
    Subjects,
}

/// The WebSocket of a page or an agent.
enum Client {
    Plain(Page),
    Nats(nats::Client),
}

impl Client {
    async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Plain(page) => page.say(text).await,
            Self::Nats(client) => client.say(text).await,
        }
    }

    async fn next(&mut self) -> anyhow::Result<String> {
        match self {
            Self::Plain(page) => page.next().await,
            Self::Nats(client) => client.next().await,
        }
    }
}

/// Pairs in sessions of one relay. Its pages answer by themselves.
pub struct Pairs {
    agents: Vec<Agent>,
    _pages: JoinSet<anyhow::Result<()>>,
}

struct Agent {
    client: Client,
    asked: u64,
}

impl Pairs {
    /// This many, all joined.
    pub async fn open(relay: &Measured, door: Door, count: usize) -> anyhow::Result<Self> {
        let (mut agents, mut pages) = (Vec::new(), JoinSet::new());
        for nth in 0..count {
            if let Door::Subjects = door {
                let (page, agent) = (format!("page.{nth}"), format!("agent.{nth}"));
                let open = |from, to| nats::Client::open(relay.address, from, to);
                pages.spawn(answer(Client::Nats(open(&page, &agent).await?)));
                agents.push(Agent {
                    client: Client::Nats(open(&agent, &page).await?),
                    asked: 0,
                });
                continue;
            }
            let mut page = Page::new(websocket(relay.address, "/agent/ws").await?);
            let mut agent = Page::new(websocket(relay.address, "/agent/ws").await?);
            if let Door::Gangway = door {
                join(&mut page, "host", nth).await?;
                join(&mut agent, "agent", nth).await?;
            }
            pages.spawn(answer(Client::Plain(page)));
            if let Door::Gangway = door {
                let start = r#"{"studyId":"bench","participantId":"p"}"#;
                let start = format!(r#"{HEAD}session.start","id":"s","payload":{start}}}"#);
                agent.say(&start).await?;
                agent.hear(r#""session.started""#).await?;
            }
            agents.push(Agent {
                client: Client::Plain(agent),
                asked: 0,
            });
        }
        Ok(Self {
            agents,
            _pages: pages,
        })
    }

    /// This many round trips per agent, with this many in flight.
    pub async fn many(&mut self, each: u64, flight: u64) -> anyhow::Result<()> {
        let mut tasks = JoinSet::new();
        for mut agent in self.agents.drain(..) {
            tasks.spawn(async move {
                agent.many(each, flight).await?;
                anyhow::Ok(agent)
            });
        }
        while let Some(done) = tasks.join_next().await {
            self.agents.push(done??);
        }
        Ok(())
    }

    /// Round trips of one agent, one after another: the microseconds of each.
    pub async fn one_by_one(&mut self, count: usize) -> anyhow::Result<Vec<f64>> {
        let agent = self.agents.first_mut().context("no agent")?;
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            times.push(agent.timed(Instant::now()).await?);
        }
        Ok(times)
    }

    /// Round trips of all agents in turn, one each time this much has passed: the microseconds of each.
    pub async fn paced(&mut self, every: Duration, each: u32) -> anyhow::Result<Vec<f64>> {
        let begin = Instant::now();
        let round = every * u32::try_from(self.agents.len())?;
        let mut tasks = JoinSet::new();
        for (mut agent, nth) in self.agents.drain(..).zip(1..) {
            let first = begin + every * nth;
            tasks.spawn(async move {
                let mut times = Vec::new();
                for due in (0..each).map(|nth| first + round * nth) {
                    // One that waits for the trip before it waits; that the clock wakes it late is no fault of the relay.
                    let late = Instant::now() > due;
                    tokio::time::sleep_until(due.into()).await;
                    let begin = if late { due } else { Instant::now() };
                    times.push(agent.timed(begin).await?);
                }
                anyhow::Ok((agent, times))
            });
        }
        let mut times = Vec::new();
        while let Some(done) = tasks.join_next().await {
            let (agent, its) = done??;
            self.agents.push(agent);
            times.extend(its);
        }
        Ok(times)
    }
}

impl Agent {
    async fn ask(&mut self) -> anyhow::Result<()> {
        self.asked += 1;
        let id = self.asked;
        let text = format!(r#"{HEAD}tool.call","id":"c-{id}","payload":{CALL}}}"#);
        self.client.say(&text).await
    }

    /// The next answer, which must be one.
    async fn answered(&mut self) -> anyhow::Result<String> {
        let text = self.client.next().await?;
        let message = text.strip_prefix(HEAD);
        let is_result = message.is_some_and(|message| message.starts_with("tool.result"));
        anyhow::ensure!(is_result, "{text}");
        Ok(text)
    }

    async fn timed(&mut self, begin: Instant) -> anyhow::Result<f64> {
        self.ask().await?;
        let text = self.answered().await?;
        let time = begin.elapsed().as_secs_f64() * 1e6;
        let mine = format!(r#""replyTo":"c-{}""#, self.asked);
        anyhow::ensure!(text.contains(&mine), "{mine} is not in {text}");
        Ok(time)
    }

    async fn many(&mut self, count: u64, flight: u64) -> anyhow::Result<()> {
        for _ in 0..flight.min(count) {
            self.ask().await?;
        }
        for done in 1..=count {
            self.answered().await?;
            if done + flight <= count {
                self.ask().await?;
            }
        }
        Ok(())
    }
}

async fn join(client: &mut Page, role: &str, session: usize) -> anyhow::Result<()> {
    let request = format!(r#"{{"role":"{role}","sessionId":"pair-{session}"}}"#);
    let text = format!(r#"{HEAD}relay.join","id":"j","payload":{request}}}"#);
    client.say(&text).await?;
    client.hear(r#""relay.joined""#).await?;
    Ok(())
}

/// Answers everything that has a name.
async fn answer(mut page: Client) -> anyhow::Result<()> {
    loop {
        let text = page.next().await?;
        let Some((kind, rest)) = text
            .strip_prefix(HEAD)
            .and_then(|rest| rest.split_once('"'))
        else {
            anyhow::bail!("{text}");
        };
        let id = rest
            .strip_prefix(r#","id":""#)
            .and_then(|rest| rest.split_once('"'));
        let Some((id, _)) = id else { continue };
        let (kind, payload) = match kind {
            "session.start" => ("session.started", "{}"),
            "snapshot.get" => ("snapshot.state", SNAPSHOT),
            _ => ("tool.result", RESULT),
        };
        let text = format!(r#"{HEAD}{kind}","replyTo":"{id}","payload":{payload}}}"#);
        page.say(&text).await?;
    }
}
