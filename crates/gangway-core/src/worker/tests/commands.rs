//! Effects of commands, including repeated ones.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::stage::{Acting, Stage, acting, applet_prompt, asked, echo, ended, prompt, submit};
use crate::{
    AppAgent, AppEvent, Command, Consent, Error, Event, Launch, LaunchId, LaunchPass, Limits,
    NewSession, Receipt, Session, Slug, Source, state,
};

fn slug(text: &str) -> Slug {
    text.parse().unwrap()
}

fn set(applet: &str, patch: Value) -> Command {
    Command::SetState {
        applet: slug(applet),
        patch: patch.as_object().unwrap().clone(),
        source: Source::Person,
    }
}

fn changed(version: u64, seq: u64) -> Receipt {
    let changed = true;
    Receipt::State {
        version,
        seq,
        changed,
    }
}

async fn last(session: &Session) -> Event {
    let tail = session.tail(1).await.unwrap();
    tail.events.last().unwrap().event.clone()
}

#[tokio::test]
async fn the_first_shown_message_names_the_session_and_the_next_does_not() {
    let stage = Stage::new(echo());
    let title = |session: &Session| session.profile().unwrap().title;
    let session = stage.session().await;
    let hidden = submit(&session, applet_prompt("a")).await;
    ended(&session, hidden).await;
    assert_eq!(title(&session), None);
    asked(&session, "\n  \u{7}A question\r\nand more").await;
    assert_eq!(title(&session).as_deref(), Some("A question"));
    asked(&session, "Another").await;
    assert_eq!(title(&session).as_deref(), Some("A question"));
    let (profile, _) = stage.hub.describe(session.id()).await.unwrap();
    assert_eq!(profile, session.profile().unwrap());
    for (text, expected) in [
        ("x".repeat(60), "x".repeat(60)),
        ("é".repeat(61), format!("{}…", "é".repeat(60))),
        (" \n\t\n".to_owned(), "Untitled".to_owned()),
    ] {
        let session = stage.session().await;
        asked(&session, &text).await;
        assert_eq!(title(&session), Some(expected));
    }
}

#[tokio::test]
async fn a_request_of_one_name_takes_effect_once_and_is_answered_as_before() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let once = |command, name: &str| session.submit_once(command, name.to_owned());
    let first = once(prompt("one"), "p").await.unwrap();
    let Receipt::Accepted { turn } = first else {
        panic!("{first:?}");
    };
    ended(&session, turn).await;
    let head = session.head();
    assert_eq!(once(prompt("one"), "p").await, Ok(first));
    assert_eq!(session.head(), head);
    let state = once(set("a", json!({ "x": 1 })), "s").await.unwrap();
    assert_eq!(state, changed(1, head + 1));
    session.submit(set("a", json!({ "x": 2 }))).await.unwrap();
    assert_eq!(once(set("a", json!({ "x": 1 })), "s").await, Ok(state));
    let stored = stage.hub.state(session.id(), &slug("a")).await.unwrap();
    assert_eq!(
        stored.unwrap().data,
        *json!({ "x": 2 }).as_object().unwrap()
    );
    assert_ne!(
        once(prompt("one"), "other").await,
        Ok(Receipt::Accepted { turn })
    );
}

#[tokio::test]
async fn title_model_and_agent_change_and_what_is_absent_stays() {
    let own = Acting {
        has_own_sessions: true,
        ..echo()
    };
    let agents = vec![("agent", echo()), ("other", echo()), ("own", own)];
    let stage = Stage::with(agents, Limits::default());
    let session = stage.session().await;
    let change = |title: Option<&str>, model: Option<&str>, agent: Option<&str>| {
        session.submit(Command::Change {
            title: title.map(str::to_owned),
            model: model.map(str::to_owned),
            agent: agent.map(str::to_owned),
        })
    };
    assert_eq!(change(Some("T"), Some("m"), None).await, Ok(Receipt::Done));
    assert_eq!(change(None, None, Some("other")).await, Ok(Receipt::Done));
    let profile = session.profile().unwrap();
    let now = (profile.title.as_deref(), profile.model.as_deref());
    assert_eq!(now, (Some("T"), Some("m")));
    assert_eq!(profile.agent, "other");
    assert_eq!(last(&session).await, Event::Changed { profile });
    for unknown in ["nobody", "own"] {
        let refused = change(None, None, Some(unknown)).await.unwrap_err();
        assert!(matches!(refused, Error::AgentNotFound { .. }), "{refused}");
    }
    let spec = NewSession {
        agent: Some("own".into()),
        ..NewSession::default()
    };
    let fixed = stage.session_with(spec).await;
    let agent = Some("other".to_owned());
    let change = Command::Change {
        title: None,
        model: None,
        agent,
    };
    assert_eq!(fixed.submit(change).await, Err(Error::AgentFixed));
}

#[tokio::test]
async fn a_state_changes_by_version_and_only_where_a_value_differs() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let receipt = session.submit(set("a", json!({ "x": 1 }))).await;
    assert_eq!(receipt, Ok(changed(1, 2)));
    let unchanged = Receipt::State {
        version: 1,
        seq: 2,
        changed: false,
    };
    let receipt = session.submit(set("a", json!({ "x": 1 }))).await;
    assert_eq!(receipt, Ok(unchanged));
    let event = Event::StateChanged {
        applet: slug("a"),
        version: 1,
        patch: Map::from_iter([("x".to_owned(), json!(1))]),
        source: Source::Person,
    };
    assert_eq!(last(&session).await, event);
    let stage = stage
        .restart(vec![("agent", echo())], Limits::default())
        .await;
    let session = stage.hub.open(session.id()).await.unwrap();
    let receipt = session.submit(set("a", json!({ "y": 2 }))).await;
    assert_eq!(receipt, Ok(changed(2, 3)));
    let stored = stage.hub.state(session.id(), &slug("a")).await.unwrap();
    let data = json!({ "x": 1, "y": 2 });
    assert_eq!(stored.unwrap().data, *data.as_object().unwrap());
}

#[tokio::test]
async fn the_number_of_applets_with_state_is_limited() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    for n in 0..state::APPLETS {
        let patch = json!({ "x": n + 1 });
        session.submit(set(&format!("a{n}"), patch)).await.unwrap();
    }
    let more = session.submit(set("more", json!({ "x": 1 }))).await;
    let limit = state::APPLETS;
    assert_eq!(more, Err(Error::TooManyApplets { limit }));
    let known = session.submit(set("a0", json!({ "x": 0 }))).await;
    assert!(known.is_ok());
}

#[tokio::test]
async fn an_applet_is_asked_about_until_the_user_decides() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let applet = slug("a");
    let ask = || {
        session.submit(Command::RequestConsent {
            applet: slug("a"),
            prompt: "p".repeat(3000),
        })
    };
    let decide = |consent| {
        let applet = slug("a");
        session.submit(Command::SetConsent { applet, consent })
    };
    let unask = || {
        let applet = slug("a");
        session.submit(Command::WithdrawConsentRequest { applet })
    };
    let receipt = |consent, seq| Ok(Receipt::Consent { consent, seq });
    let of = async || stage.hub.consent(session.id(), &slug("a")).await.unwrap();
    assert_eq!(ask().await, receipt(Consent::Open, 2));
    let prompt = "p".repeat(2000);
    let asked = Event::ConsentRequested {
        applet: applet.clone(),
        prompt,
    };
    assert_eq!(last(&session).await, asked);
    assert_eq!(unask().await, Ok(Receipt::Done));
    let changed = |consent| Event::ConsentChanged {
        applet: slug("a"),
        consent,
    };
    assert_eq!(last(&session).await, changed(Consent::Open));
    assert_eq!(decide(Consent::Once).await, receipt(Consent::Once, 4));
    assert_eq!(last(&session).await, changed(Consent::Once));
    assert_eq!(of().await, Consent::Open, "it was for once");
    assert_eq!(decide(Consent::Denied).await, receipt(Consent::Denied, 5));
    assert_eq!(of().await, Consent::Denied);
    assert_eq!(
        ask().await,
        receipt(Consent::Denied, 5),
        "the user is not asked"
    );
    assert_eq!(unask().await, Ok(Receipt::Done));
    assert_eq!(session.head(), 5, "what was decided stands");
    assert_eq!(decide(Consent::Open).await, receipt(Consent::Open, 6));
    assert_eq!(of().await, Consent::Open);
    stage.hub.set_speaks_always(&applet, true).await.unwrap();
    assert_eq!(ask().await, receipt(Consent::Allowed, 6));
}

#[tokio::test]
async fn pages_are_opened_and_reloaded_by_events() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let applet = slug("a");
    let open = Command::OpenApplet {
        applet: applet.clone(),
    };
    assert_eq!(session.submit(open).await, Ok(Receipt::Done));
    assert_eq!(last(&session).await, Event::OpenAsked { applet });
    let reload = Command::Reload { applet: None };
    assert_eq!(session.submit(reload).await, Ok(Receipt::Done));
    assert_eq!(last(&session).await, Event::ReloadAsked { applet: None });
}

fn launch(session: &Session) -> Launch {
    Launch {
        id: LaunchId::new(),
        session: session.id(),
        app: "app".parse().unwrap(),
        agent: AppAgent {
            name: "someone".into(),
            version: "1".into(),
            capabilities: Vec::new(),
        },
        in_house: true,
        data: Map::new(),
        config: Map::new(),
        reload: false,
        created_at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::UNIX_EPOCH,
    }
}

#[tokio::test]
async fn a_launch_is_noted_with_its_record_and_news_with_a_name_is_noted_once() {
    let stage = Stage::new(echo());
    let session = stage.session().await;
    let launch = launch(&session);
    let noted = session.submit(Command::Launch(Box::new(launch.clone())));
    assert_eq!(noted.await, Ok(Receipt::Logged { seq: 2 }));
    assert_eq!(stage.hub.launch(launch.id).await, Ok(launch.clone()));
    let note = |app_event| {
        session.submit(Command::App {
            launch: launch.id,
            app: "app".parse().unwrap(),
            app_event: Box::new(app_event),
        })
    };
    let begun = || AppEvent::Begun {
        request: "r1".into(),
    };
    assert_eq!(note(begun()).await, Ok(Receipt::Logged { seq: 3 }));
    assert_eq!(note(begun()).await, Ok(Receipt::Logged { seq: 3 }));
    let message = || AppEvent::Told {
        event: "e".into(),
        payload: json!(1),
        source: Source::Person,
    };
    assert_eq!(note(message()).await, Ok(Receipt::Logged { seq: 4 }));
    assert_eq!(note(message()).await, Ok(Receipt::Logged { seq: 5 }));
}

#[tokio::test]
async fn a_deleted_session_leaves_no_record_behind() {
    let stage = Stage::new(acting(async |mut turn| {
        turn.mark(7);
        turn.delta("x").await?;
        Ok(None)
    }));
    let stays = stage.session().await;
    let session = stage.session().await;
    asked(&session, "Go").await;
    session.submit(set("a", json!({ "x": 1 }))).await.unwrap();
    // More than the number of applets that may have a state.
    for n in 0..80 {
        let (applet, consent) = (slug(&format!("a{n}")), Consent::Allowed);
        session
            .submit(Command::SetConsent { applet, consent })
            .await
            .unwrap();
    }
    let launch = launch(&session);
    let pass = LaunchPass {
        browser: None,
        embed_origin: None,
        expires_at: Timestamp::UNIX_EPOCH,
    };
    session
        .submit(Command::Launch(Box::new(launch.clone())))
        .await
        .unwrap();
    stage.hub.add_pass(launch.id, "hash", &pass).await.unwrap();
    session.submit(Command::Delete).await.unwrap();
    let store = stage.hub.store();
    let left = store.keys("", 1000).await.unwrap();
    assert_eq!(left, [format!("session/{}", stays.id())]);
    assert_eq!(store.last(session.id()).await.unwrap(), 0);
}
