//! A hub whose agents are functions of the test.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::sync::Notify;

use crate::{
    Agent, AgentError, Agents, Command, Event, Hub, Limits, Logged, NewSession, Readiness, Receipt,
    Session, SessionId, Source, Store, Turn, Usage, WhenBusy,
};

pub type TurnResult = Result<Option<Usage>, AgentError>;

type Run = Box<dyn Fn(Turn) -> BoxFuture<'static, TurnResult> + Send + Sync>;

/// An agent backed by a function.
pub struct Acting {
    pub run: Run,
    pub resumes_questions: bool,
    pub survives: bool,
    pub has_own_sessions: bool,
}

pub fn acting<R: Future<Output = TurnResult> + Send + 'static>(
    run: impl Fn(Turn) -> R + Send + Sync + 'static,
) -> Acting {
    Acting {
        run: Box::new(move |turn| run(turn).boxed()),
        resumes_questions: false,
        survives: false,
        has_own_sessions: false,
    }
}

/// Echoes its prompt.
pub fn echo() -> Acting {
    acting(async |mut turn| {
        let prompt = turn.prompt().to_owned();
        turn.delta(&prompt).await?;
        turn.end_message().await?;
        Ok(None)
    })
}

/// Sends a message, then blocks until released, once per turn.
pub fn held(message: &'static str) -> (Acting, Arc<Notify>) {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let agent = acting(move |mut turn| {
        let wait = Arc::clone(&wait);
        async move {
            turn.delta(message).await?;
            wait.notified().await;
            Ok(None)
        }
    });
    (agent, go)
}

impl Agent for Acting {
    fn description(&self) -> String {
        String::new()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn is_for_choosing(&self) -> bool {
        !self.has_own_sessions
    }

    fn survives(&self) -> bool {
        self.survives
    }

    fn resumes_questions(&self) -> bool {
        self.resumes_questions
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, TurnResult> {
        (self.run)(turn)
    }
}

pub struct Stage {
    pub folder: tempfile::TempDir,
    pub hub: Arc<Hub>,
}

impl Stage {
    pub fn new(agent: Acting) -> Self {
        Self::with(vec![("agent", agent)], Limits::default())
    }

    /// Agents by name; the first is the default.
    pub fn with(agents: Vec<(&str, Acting)>, limits: Limits) -> Self {
        Self::open(tempfile::tempdir().unwrap(), agents, limits)
    }

    pub fn open(folder: tempfile::TempDir, agents: Vec<(&str, Acting)>, limits: Limits) -> Self {
        let store = Store::open(folder.path()).unwrap();
        Self::on(store, folder, agents, limits)
    }

    pub fn on(
        store: Store,
        folder: tempfile::TempDir,
        agents: Vec<(&str, Acting)>,
        limits: Limits,
    ) -> Self {
        let default = agents[0].0.to_owned();
        let named = agents.into_iter().map(|(name, agent)| {
            let agent: Arc<dyn Agent> = Arc::new(agent);
            (name.to_owned(), agent)
        });
        let agents = Agents::new(BTreeMap::from_iter(named), &default).unwrap();
        let hub = Hub::new(store, agents, limits);
        Self { folder, hub }
    }

    /// Stops and starts like a server, with other agents.
    pub async fn restart(self, agents: Vec<(&str, Acting)>, limits: Limits) -> Self {
        self.hub.shut_down().await;
        let Self { folder, hub } = self;
        drop(hub);
        let stage = Self::open(folder, agents, limits);
        stage.hub.recover().await.unwrap();
        stage
    }

    pub async fn session(&self) -> Arc<Session> {
        self.session_with(NewSession::default()).await
    }

    pub async fn session_with(&self, spec: NewSession) -> Arc<Session> {
        let id = SessionId::new();
        self.hub.create(id, spec).await.unwrap();
        self.hub.open(id).await.unwrap()
    }
}

pub fn prompt(text: &str) -> Command {
    Command::Prompt {
        prompt: text.into(),
        source: Source::Person,
        shown: true,
        when_busy: WhenBusy::Queue,
    }
}

pub fn applet_prompt(slug: &str) -> Command {
    Command::Prompt {
        prompt: "from an applet".into(),
        source: Source::Applet { slug: slug.into() },
        shown: false,
        when_busy: WhenBusy::Queue,
    }
}

/// Submits a message and returns the number of its turn.
pub async fn submit(session: &Session, command: Command) -> u64 {
    match session.submit(command).await.unwrap() {
        Receipt::Accepted { turn } => turn,
        other => panic!("{other:?}"),
    }
}

/// The log up to the first matching event.
pub async fn until(session: &Arc<Session>, is_meant: impl Fn(&Event) -> bool) -> Vec<Arc<Logged>> {
    let mut reader = session.subscribe(0);
    let mut all = Vec::new();
    loop {
        for logged in reader.next(1 << 20).await.unwrap().unwrap() {
            let found = is_meant(&logged.event);
            all.push(logged);
            if found {
                return all;
            }
        }
    }
}

/// The log up to the end of a turn.
pub async fn ended(session: &Arc<Session>, turn: u64) -> Vec<Event> {
    let ends = |event: &Event| matches!(event, Event::TurnEnded { turn: of, .. } if *of == turn);
    let all = until(session, ends).await;
    all.iter().map(|logged| logged.event.clone()).collect()
}

/// Sends a prompt and waits for the end of the turn.
pub async fn asked(session: &Arc<Session>, text: &str) -> Vec<Event> {
    let turn = submit(session, prompt(text)).await;
    ended(session, turn).await
}

/// Waits until an agent sent a message.
pub async fn said_something(session: &Arc<Session>, turn: u64) {
    let message = |event: &Event| matches!(event, Event::Delta { turn: of, .. } if *of == turn);
    until(session, message).await;
}
