//! Opens the channel between an app and its agent: authorization, resuming, and the first message.

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
    error::{ApiError, ApiResult},
    extract::Query,
    feed::{self, Start},
    socket::{
        self, Ending, Frames, UpgradeResult, accept, say_goodbye, text_message, to_json, within,
    },
};
use gangway_pages::PageView;
use serde::Deserialize;

use self::{
    agent::{Agent, waiting},
    page::Page,
};
use crate::{
    Side, Weblets,
    order::MessageOrder,
    routes::launch::find,
    view::{View, page_of},
    wire::channel::{AgentServerMessage, PageServerMessage},
};

/// Size limit of a frame: twice that of a message, so that one somewhat too large gets an error.
const FRAME: usize = 2 << 20;

/// Length limit of the id that a page chooses for itself.
const PAGE: usize = 100;

/// How long a rejected page may take to read the reason.
const FAREWELL: Duration = Duration::from_secs(10);

#[derive(Deserialize, Default)]
pub(super) struct ChannelQuery {
    pub(super) since: Option<String>,
    /// Chosen by the page; the same when it reconnects.
    pub(super) page: Option<String>,
}

/// For an external agent.
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
    let mut first = vec![to_json(&AgentServerMessage::Welcome {
        launch_id: launch.id.to_string(),
        app: launch.app.to_string(),
        session_id: launch.session.to_string(),
        seq: read,
    })];
    first.extend(
        items
            .iter()
            .filter_map(|item| waiting(&launch, item.seq, item.at, &item.app_event)),
    );
    let subscription = session.subscribe(read);
    let side = Agent {
        weblets: Arc::clone(&weblets),
        session,
        launch,
        order: MessageOrder::default(),
        _present: present,
    };
    let http = Arc::clone(&weblets.http);
    Ok(accept(&http, upgrade, move |socket| {
        connection::run(weblets, admitted, socket, subscription, first, side)
    }))
}

/// For a page of an app embedded in another page, through that page.
pub(crate) async fn for_page(
    State(weblets): State<Arc<Weblets>>,
    Path(id): Path<String>,
    Query(since): Query<ChannelQuery>,
    Extension(admitted): Extension<Admitted>,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    match find(&weblets, &id).await {
        Ok(launch) => page(weblets, launch, since, admitted, upgrade).await,
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            reject(weblets, upgrade, Ending::Gone)
        }
        Err(error) => Err(error),
    }
}

/// Sends the reason on the channel itself: a browser tells its page nothing about a refused upgrade.
pub(super) fn reject(
    weblets: Arc<Weblets>,
    upgrade: UpgradeResult,
    why: Ending,
) -> ApiResult<Response> {
    let upgrade = socket::upgrade(upgrade, Frames::of(FRAME))?;
    let (reason, message, _) = why.close_info();
    let last = text_message(to_json(&PageServerMessage::Closing {
        reason: reason.to_owned(),
        message: message.to_owned(),
    }));
    why.count(&weblets.http.metrics);
    Ok(accept(&weblets.http, upgrade, async move |socket| {
        let (sink, inbox) = socket.split();
        within(FAREWELL, say_goodbye(sink, inbox, last, why.close())).await;
    }))
}

pub(super) async fn page(
    weblets: Arc<Weblets>,
    mut launch: Launch,
    since: ChannelQuery,
    admitted: Admitted,
    upgrade: UpgradeResult,
) -> ApiResult<Response> {
    if launch.expires_at <= jiff::Timestamp::now() {
        return reject(weblets, upgrade, Ending::Expired);
    }
    let key = since.page.clone();
    if key.as_ref().is_some_and(|page| page.len() > PAGE) {
        let message = format!("`page` must be at most {PAGE} characters");
        return Err(ApiError::invalid(message));
    }
    // The launch data is by far the largest part, and is not needed here.
    launch.data.clear();
    launch.config.clear();
    let session = match weblets.hub.open(launch.session).await {
        Err(Error::SessionNotFound(_)) => return reject(weblets, upgrade, Ending::Gone),
        found => found?,
    };
    let upgrade = socket::upgrade(upgrade, Frames::of(FRAME))?;
    let (subscription, first) = begin(&session, since).await?;
    let about = weblets.apps.find(&launch.app).await;
    let watch = match (launch.reload, &about) {
        (true, Some(about)) => watch(about).await,
        _ => None,
    };
    let key = key.map(|page| format!("{}/{page}", launch.id));
    let view = || {
        let (hub, launch) = (Arc::clone(&weblets.hub), launch.id);
        Box::new(View { hub, launch }) as Box<dyn PageView>
    };
    let page = weblets
        .open
        .connect(key, page_of(&launch, about.as_deref()), view)
        .map_err(|error| {
            ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too_many_pages",
                error.to_string(),
            )
        })?;
    let side = Page {
        page,
        weblets: Arc::clone(&weblets),
        session,
        about,
        watch,
        events: HashMap::new(),
        early: HashSet::new(),
        order: MessageOrder::default(),
        requests: HashSet::new(),
        _present: weblets.launches.presence.enter(launch.id, Side::Page),
        launch: Arc::new(launch),
    };
    let first = first.iter().map(to_json).collect();
    let http = Arc::clone(&weblets.http);
    Ok(accept(&http, upgrade, move |socket| {
        connection::run(weblets, admitted, socket, subscription, first, side)
    }))
}

/// Watches the files of an app on disk.
async fn watch(app: &gangway_apps::App) -> Option<Watch> {
    let folder = Folder::open(app.folder.path()?).await.ok()?;
    folder.watch(FilePath::root()).await.ok()
}

/// Subscribes from the right number, and returns the first message.
async fn begin(
    session: &Arc<Session>,
    since: ChannelQuery,
) -> ApiResult<(Subscription, Vec<PageServerMessage>)> {
    let head = session.head();
    let mut first = vec![PageServerMessage::Welcome { seq: head }];
    match feed::resume(session, since.since.as_deref()).await? {
        Start::Resumed(subscription) => {
            let seq = subscription.after();
            return Ok((subscription, vec![PageServerMessage::Welcome { seq }]));
        }
        Start::Now => {}
        Start::Gap(_) => first.push(PageServerMessage::Resync { seq: head }),
    }
    Ok((session.subscribe(head), first))
}
