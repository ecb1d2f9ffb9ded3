//! What happens in the demo, in order.

use std::{sync::Arc, time::Duration};

use gangway_core::{
    AppEvent, Event, Grant, NewSession, Origin, PageEntry, PageId, PageKind, Scope, SessionId,
    Source, Subscription, secret::new_secret,
};
use gangway_pages::Page;
use serde_json::json;

use super::{
    actors::{ExternalAgent, McpClient},
    site::Site,
    stage::{Ended, Played, Stage, failed},
};

pub(super) const APP: &str = "packing-list";
const APPLET: &str = "notebook";
const FILE: &str = "packing-list.md";

/// How long the person may take to open a page.
const OPENING: Duration = Duration::from_secs(5 * 60);

const GANGWAY: &str = "Gangway";
const MCP: &str = "MCP client";
const EXTERNAL: &str = "External agent";
const AGENT: &str = "Scripted agent";
const PERSON: &str = "You";
const SITE: &str = "Site";

pub(super) async fn run(stage: &Stage) -> Played<()> {
    let request = NewSession {
        title: Some("Demo: a packing list".to_owned()),
        agent: Some("demo".to_owned()),
        ..NewSession::default()
    };
    let created = stage.services.sessions.create(request).await;
    let (session, _) = created.map_err(|error| failed(error.to_string()))?;
    let relay = format!("packing-list-{}", &new_secret()[..8]);
    let page_tools = format!("tools:page-{APP}/*");
    let scopes = ["chat", "tools:gangway/*", &page_tools];
    let key = stage.key("Demo: MCP client", &scopes).await?;
    let client = McpClient::connect(stage, &key).await?;
    let id = session.to_string();
    let launch = json!({
        "app": APP, "agent": McpClient::NAME, "sessionId": id, "config": { "session": relay },
        "data": { "title": "Ferry to Tern Hook", "items": ["Rain jacket", "Charger"] },
    });
    let launched = client.call("launch_app", launch).await?;
    let launch = launched["launchId"].as_str().unwrap_or_default();
    stage.launched(session, launch);
    stage.step(MCP, "Launched the packing list in this chat");

    stage.task("Open this chat with the packing list beside it.", None);
    let list = open_list(stage, session, &relay).await?;
    client.offered(&format!("page-{APP}__add_item")).await?;
    stage.step(
        GANGWAY,
        "Offers the tools of the packing list to every agent",
    );
    let item = json!({ "name": "Boarding pass" });
    client.call(&format!("page-{APP}__add_item"), item).await?;
    stage.step(MCP, "Added the boarding pass with a tool of the page");

    let key = stage
        .key("Demo: external agent", &[&format!("relay.agent:{relay}")])
        .await?;
    let external = ExternalAgent::new(stage, key, &relay)?;
    let jacket = json!({ "item": "Rain jacket" });
    let reason = "Showers are forecast at the pier.";
    external.act("pack", jacket, reason).await?;
    stage.step(EXTERNAL, "Joined over the relay and packed the rain jacket");

    let hub = stage.services.sessions.hub();
    let open = hub.open(session).await;
    let open = open.map_err(|error| failed(error.to_string()))?;
    let mut log = open.subscribe(open.head());
    let agent = ChatAgent {
        client: &client,
        session,
        list,
    };
    let charger = "Pack the charger, please.";
    agent.calls(stage, &mut log, charger, "/pack").await?;
    stage.step(
        AGENT,
        "Read the list and packed the charger, as you allowed",
    );
    let pass = json!({ "item": "Boarding pass" });
    let reason = "Boarding begins in an hour.";
    external.act("pack", pass, reason).await?;
    stage.step(EXTERNAL, "Packed the boarding pass");

    let notebook = json!({ "applet": APPLET, "sessionId": id });
    client.call("open_applet", notebook).await?;
    let opened =
        |page: &Arc<Page>| page.kind == PageKind::Applet && page.session() == Some(session);
    let missing = "The notebook did not open beside the chat.";
    let shown = |pages: &[Arc<Page>]| pages.iter().any(opened).then_some(());
    stage.pages(OPENING, missing, shown).await?;
    let state = json!({ "applet": APPLET, "sessionId": id, "data": { "open": FILE } });
    client.call("set_applet_state", state).await?;
    stage.step(
        MCP,
        "Opened the notebook beside the chat, at a note that is not there yet",
    );
    let save = "Save the packing list.";
    agent.calls(stage, &mut log, save, "/save_list").await?;
    stage.step(AGENT, "Had the page ask to save the list");
    stage.task("Allow the packing list to save its file.", None);
    saved(stage, &mut log, list).await?;
    stage.step(PERSON, "Allowed the file, which the notebook shows");

    visit(stage, session, &mut log).await?;
    stage.step(SITE, "Read the list with your permission, and shows it");
    stage.step(GANGWAY, "Logged all of this in one session: replay it");
    Ok(())
}

/// Waits for the page, with the tools that it offers to this session and on the relay.
async fn open_list(stage: &Stage, session: SessionId, relay: &str) -> Played<PageId> {
    let missing = "No browser opened the packing list within 5 minutes.";
    let open = |pages: &[Arc<Page>]| {
        let mut own = pages.iter().filter(|page| page.session() == Some(session));
        let app = own.find(|page| page.kind == PageKind::App && !page.last_tools().is_empty())?;
        let mut hosts = pages.iter().filter(|page| page.kind == PageKind::Relay);
        hosts.any(|page| page.name == relay).then_some(app.id)
    };
    stage.pages(OPENING, missing, open).await
}

/// The agent of the chat, which is told what to do by a message of the MCP client.
struct ChatAgent<'a> {
    client: &'a McpClient,
    session: SessionId,
    list: PageId,
}

impl ChatAgent<'_> {
    /// Waits until it has called this tool of the page, with the person's approval.
    async fn calls(
        &self,
        stage: &Stage,
        log: &mut Subscription,
        prompt: &str,
        called: &str,
    ) -> Played<()> {
        stage.task("Allow the agent to use the packing list.", None);
        let id = self.session.to_string();
        let message = json!({ "prompt": prompt, "sessionId": id, "waitSeconds": 0 });
        self.client.call("send_message", message).await?;
        let result = |event: &Event| match event {
            Event::ToolResult { tool, result, .. } if tool.ends_with(called) => {
                Some(result.clone())
            }
            _ => None,
        };
        let page = (self.list, "The packing list");
        let result = stage.event(log, page, result).await?;
        let why =
            |error| Ended::Denied(format!("The agent did not use the packing list: {error}."));
        result.map(|_| ()).map_err(why)
    }
}

/// Waits until the person decided about the file.
async fn saved(stage: &Stage, log: &mut Subscription, list: PageId) -> Played<()> {
    let decided = |event: &Event| match event {
        Event::App {
            app_event: AppEvent::Answered { result, .. },
            ..
        } => Some(result.clone()),
        _ => None,
    };
    let page = (list, "The packing list");
    let result = stage.event(log, page, decided).await?;
    let why = |error: gangway_core::AppRefusal| {
        Ended::Denied(format!("{FILE} was not saved: {}.", error.message))
    };
    result.map(|_| ()).map_err(why)
}

/// Waits until the site has the list, with the person's permission.
async fn visit(stage: &Stage, session: SessionId, log: &mut Subscription) -> Played<()> {
    let site = Site::open(&stage.services.http.own_url).await?;
    let origin = &site.origin;
    stage.site(origin);
    let text = "Open the site, press its button, and allow it to read the list.";
    stage.task(text, Some(origin.as_str()));
    let missing = "The site was not opened within 5 minutes, in a browser on this computer.";
    let of_site = |pages: &[Arc<Page>]| {
        let mut pages = pages.iter();
        pages.find(|page| page.origin == origin.as_str()).cloned()
    };
    let page = stage.pages(OPENING, missing, of_site).await?;
    stage.services.pages.connect(&page, Some(session));
    site.begin();
    let mut call = None;
    let read = |event: &Event| {
        let Event::Page { page_event, .. } = event else {
            return None;
        };
        match page_event {
            PageEntry::Called {
                call: id,
                by: Source::Page { origin: by },
                ..
            } if *by == origin.as_str() => {
                call = Some(id.clone());
                None
            }
            PageEntry::Returned {
                call: id, result, ..
            } if call.as_ref() == Some(id) => Some(result.clone()),
            _ => None,
        }
    };
    let read = stage.event(log, (page.id, "The site"), read);
    let result = tokio::select! {
        result = read => result?,
        () = denied(stage, origin) => {
            let why = "The site got nothing: you denied it the permission.";
            return Err(Ended::Denied(why.to_owned()));
        }
    };
    let result =
        result.map_err(|error| failed(format!("The site could not read the list: {error}")));
    // Its page has the result before its grant ends.
    result.map(|_| ())
}

/// Waits until the person denies the site.
async fn denied(stage: &Stage, origin: &Origin) {
    let permissions = &stage.services.permissions;
    let mut changes = permissions.changes();
    while permissions.standing(origin).of(Scope::ToolsCall) != Grant::Denied {
        if changes.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}
