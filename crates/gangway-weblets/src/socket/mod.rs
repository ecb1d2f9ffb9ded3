//! Opens the channel between an app and its agent: who may, from which number on, and what comes first.

mod agent;
mod connection;
mod page;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension,
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use futures_util::StreamExt;
use gangway_core::{Error, Launch, Session, Subscription};
use gangway_files::{FilePath, Folder, Watch};
use gangway_http::{
    auth::Admitted,
    error::ApiResult,
    extract::Query,
    feed::{self, Start},
    socket::{self, Ending, Frames, UpgradeResult, say_goodbye, text_message, to_json, within},
};
use serde::Deserialize;

use self::{
    agent::{Agent, waiting},
    page::Page,
};
use crate::{
    Side, Weblets,
    routes::launch::find,
    wire::channel::{AgentTold, PageTold},
};

/// Bytes of a frame: twice what is taken, so that one somewhat too large is answered.
const FRAME: usize = 2 << 20;

/// How long a page that is turned away may take to hear it.
const FAREWELL: Duration = Duration::from_secs(10);

/// From where on.
#[derive(Deserialize, Default)]
pub(super) struct Since {
    pub(super) since: Option<String>,
}

/// For an agent from outside.
pub(crate) async fn for_agent(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
    Extension(admitted): Extension<Admitted>,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    let upgrade = socket::upgrade(upgrade, Frames::of(FRAME))?;
    let launch = Arc::new(find(&weblets, &id).await?);
    let session = weblets.hub.open(launch.session).await?;
    let present = weblets.launches.presence.enter(launch.id, Side::Agent);
    let (items, read) = weblets
        .launches
        .inbox(&launch)
        .waiting(&weblets.launches, &launch)
        .await?;
    let mut first = vec![to_json(&AgentTold::Welcome {
        launch_id: launch.id.to_string(),
        app: launch.app.to_string(),
        session_id: launch.session.to_string(),
        seq: read,
    })];
    first.extend(
        items
            .iter()
            .filter_map(|item| waiting(&launch, item.seq, item.at, &item.news)),
    );
    let subscription = session.subscribe(read);
    let side = Agent {
        weblets: Arc::clone(&weblets),
        session,
        launch,
        _present: present,
    };
    Ok(upgrade.on_upgrade(move |socket| {
        let feeds = weblets.http.sockets.clone();
        feeds.track_future(connection::run(
            weblets,
            admitted,
            socket,
            subscription,
            first,
            side,
        ))
    }))
}

/// For a page of an app that somebody's own page holds in a frame, by way of that page.
pub(crate) async fn for_page(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
    Query(since): Query<Since>,
    Extension(admitted): Extension<Admitted>,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    match find(&weblets, &id).await {
        Ok(launch) => page(weblets, launch, since, admitted, upgrade).await,
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            turn_away(weblets, upgrade, Ending::Gone)
        }
        Err(error) => Err(error),
    }
}

/// Says on the channel itself why there is none: a browser tells its page nothing of an upgrade that was refused.
pub(super) fn turn_away(
    weblets: Arc<Weblets>,
    upgrade: UpgradeResult,
    why: Ending,
) -> ApiResult<Response> {
    let upgrade = socket::upgrade(upgrade, Frames::of(FRAME))?;
    let (reason, message, _) = why.words();
    let last = text_message(to_json(&PageTold::Closing {
        reason: reason.to_owned(),
        message: message.to_owned(),
    }));
    why.count(&weblets.http.metrics);
    Ok(upgrade.on_upgrade(move |socket| {
        let feeds = weblets.http.sockets.clone();
        feeds.track_future(async move {
            let (sink, inbox) = socket.split();
            within(FAREWELL, say_goodbye(sink, inbox, last, why.close())).await;
        })
    }))
}

/// The page's side of the channel.
pub(super) async fn page(
    weblets: Arc<Weblets>,
    mut launch: Launch,
    since: Since,
    admitted: Admitted,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    if launch.expires_at <= jiff::Timestamp::now() {
        return turn_away(weblets, upgrade, Ending::Expired);
    }
    // What the app was given is the largest part of it, and nobody asks for it here.
    launch.data.clear();
    launch.config.clear();
    let session = match weblets.hub.open(launch.session).await {
        Err(Error::SessionNotFound(_)) => return turn_away(weblets, upgrade, Ending::Gone),
        found => found?,
    };
    let upgrade = socket::upgrade(upgrade, Frames::of(FRAME))?;
    let (subscription, first) = begin(&session, since).await?;
    let about = weblets.apps.find(&launch.app).await;
    let watch = match (launch.reload, &about) {
        (true, Some(about)) => watch(about).await,
        _ => None,
    };
    let side = Page {
        weblets: Arc::clone(&weblets),
        session,
        about,
        watch,
        events: HashMap::new(),
        early: HashSet::new(),
        requests: HashSet::new(),
        _present: weblets.launches.presence.enter(launch.id, Side::Page),
        launch: Arc::new(launch),
    };
    let first = first.iter().map(to_json).collect();
    Ok(upgrade.on_upgrade(move |socket| {
        let feeds = weblets.http.sockets.clone();
        feeds.track_future(connection::run(
            weblets,
            admitted,
            socket,
            subscription,
            first,
            side,
        ))
    }))
}

/// Tells of changes to the files of an app that is on disk.
async fn watch(app: &gangway_apps::App) -> Option<Watch> {
    let folder = Folder::open(app.folder.path()?).await.ok()?;
    folder.watch(FilePath::root()).await.ok()
}

/// A subscription from the right place, and what is said first.
async fn begin(session: &Arc<Session>, since: Since) -> ApiResult<(Subscription, Vec<PageTold>)> {
    let head = session.head();
    let mut first = vec![PageTold::Welcome { seq: head }];
    match feed::resume(session, since.since.as_deref()).await? {
        Start::Resumed(subscription) => {
            let seq = subscription.after();
            return Ok((subscription, vec![PageTold::Welcome { seq }]));
        }
        Start::Now => {}
        Start::Gap(_) => first.push(PageTold::Resync { seq: head }),
    }
    Ok((session.subscribe(head), first))
}
