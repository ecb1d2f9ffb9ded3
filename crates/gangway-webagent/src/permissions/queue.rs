//! The queue of permission requests: one of an origin at a time, oldest first, bounded.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Arc, Weak},
    time::Duration,
};

use gangway_core::{AskId, Asker, Asks, Lane, NewAsk, OpenAsk, Origin, TabId, asks::Answering};
use tokio::{sync::watch, time::Instant};

use super::{
    Permissions, State,
    query::{Decision, PermissionQuery, Question, TooMany},
    show::body,
    site::Site,
};

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(118);

/// Maximum number of requests in total. Hidden ones are counted separately, since anyone can cause them.
const MOST: usize = 32;

/// Maximum number of requests of one site, over all its origins.
const OF_SITE: usize = 4;

/// Maximum number of pages that wait for the same request.
const WAITERS: usize = 64;

/// A site whose requests were not allowed this often within this time has to wait.
const REFUSALS: usize = 10;
const REFUSALS_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Maximum number of sites whose denials are counted.
const COUNTED: usize = 1000;

/// The state of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestState {
    Waiting,
    Shown,
    Done(Decision),
}

/// A queued request.
pub(super) struct QueuedRequest {
    pub(super) id: AskId,
    pub(super) query: PermissionQuery,
    pub(super) question: Question,
    /// Its entry in the list of open requests.
    open: OpenAsk,
    pub(super) until: Instant,
    pub(super) tabs: BTreeSet<TabId>,
    pub(super) stage: watch::Sender<RequestState>,
    pub(super) waiters: usize,
    /// An answer is being stored.
    pub(super) deciding: bool,
}

impl QueuedRequest {
    pub(super) fn is_shown(&self) -> bool {
        *self.stage.borrow() == RequestState::Shown
    }
}

/// All requests, oldest first.
pub(super) struct Queue {
    asks: Arc<Asks>,
    answering: Answering,
    asked: Vec<QueuedRequest>,
    refusals: HashMap<Site, VecDeque<Instant>>,
}

impl Queue {
    /// A queue whose answers change these permissions.
    pub(super) fn new(asks: Arc<Asks>, permissions: &Weak<Permissions>) -> Self {
        let permissions = permissions.clone();
        let answering: Answering = Arc::new(move |id, reply| {
            let permissions = permissions.clone();
            Box::pin(async move { super::ask::take(permissions.upgrade(), id, reply).await })
        });
        Self {
            asks,
            answering,
            asked: Vec::new(),
            refusals: HashMap::new(),
        }
    }

    /// Queues a request, or joins an equal one.
    pub(super) fn enter(
        &mut self,
        query: PermissionQuery,
        question: Question,
    ) -> Result<(AskId, watch::Receiver<RequestState>), TooMany> {
        let same = |asked: &&mut QueuedRequest| {
            asked.query.lane() == query.lane() && !asked.deciding && asked.query.is_same(&query)
        };
        if let Some(same) = self.asked.iter_mut().find(same) {
            if same.waiters >= WAITERS {
                return Err(TooMany);
            }
            same.waiters += 1;
            same.tabs.insert(query.tab);
            return Ok((same.id.clone(), same.stage.subscribe()));
        }
        let alike = || self.asked.iter().filter(|a| a.query.hidden == query.hidden);
        let site = Site::from(&query.origin);
        let before = alike().filter(|a| Site::from(&a.query.origin) == site);
        if before.count() >= OF_SITE || alike().count() >= MOST {
            return Err(TooMany);
        }
        if !query.hidden && self.is_refused_often(&site) {
            return Err(TooMany);
        }
        let first = !self.asked.iter().any(|a| a.query.lane() == query.lane());
        let stage = if first {
            RequestState::Shown
        } else {
            RequestState::Waiting
        };
        let (stage, receiver) = watch::channel(stage);
        let (origin, tab) = query.lane();
        let new = NewAsk {
            asker: Asker::Site(origin.clone()),
            body: body(&query, &question, 0),
            // In the same order as here; the limits are those above.
            lane: Lane {
                name: match tab {
                    Some(tab) => format!("permission/{origin}/{tab}"),
                    None => format!("permission/{origin}"),
                },
                limit: usize::MAX,
                one_at_a_time: true,
            },
            timeout: Some(TIMEOUT),
            hidden: query.hidden,
            session: query.session,
        };
        let answering = Arc::clone(&self.answering);
        let open = self.asks.open(new, answering).map_err(|_| TooMany)?;
        let id = open.id().clone();
        self.asked.push(QueuedRequest {
            id: id.clone(),
            open,
            tabs: BTreeSet::from([query.tab.clone()]),
            query,
            question,
            until: Instant::now() + TIMEOUT,
            stage,
            waiters: 1,
            deciding: false,
        });
        Ok((id, receiver))
    }

    pub(super) fn get(&self, id: &AskId) -> Option<&QueuedRequest> {
        self.asked.iter().find(|asked| asked.id == *id)
    }

    pub(super) fn get_mut(&mut self, id: &AskId) -> Option<&mut QueuedRequest> {
        self.asked.iter_mut().find(|asked| asked.id == *id)
    }

    /// Updates the displayed number of requests of the same origin after each.
    pub(super) fn publish(&self) {
        for asked in self.asked.iter().filter(|asked| asked.is_shown()) {
            let waiting = match asked.query.hidden {
                true => 0,
                false => self.behind(&asked.query.origin),
            };
            let body = body(&asked.query, &asked.question, waiting);
            asked.open.update(body);
        }
    }

    /// The number of queued requests behind the displayed one of this origin.
    fn behind(&self, origin: &Origin) -> usize {
        let waits = |asked: &&QueuedRequest| asked.query.origin == *origin && !asked.is_shown();
        self.asked.iter().filter(waits).count()
    }

    fn is_refused_often(&self, site: &Site) -> bool {
        let now = Instant::now();
        let recent = |at: &&Instant| now.duration_since(**at) < REFUSALS_WITHIN;
        let times = self.refusals.get(site);
        times.is_some_and(|times| times.iter().filter(recent).count() >= REFUSALS)
    }

    fn refused(&mut self, origin: &Origin) {
        let now = Instant::now();
        self.refusals.retain(|_, times| {
            times.retain(|at| now.duration_since(*at) < REFUSALS_WITHIN);
            !times.is_empty()
        });
        let site = Site::from(origin);
        if self.refusals.len() < COUNTED || self.refusals.contains_key(&site) {
            self.refusals.entry(site).or_default().push_back(now);
        }
    }

    /// The user has made a decision about an origin of this site, so its count restarts.
    pub(super) fn forgive(&mut self, origin: &Origin) {
        self.refusals.remove(&Site::from(origin));
    }

    /// Restarts all counts.
    pub(super) fn forgive_all(&mut self) {
        self.refusals.clear();
    }

    fn take(&mut self, id: &AskId) -> Option<QueuedRequest> {
        let place = self.asked.iter().position(|asked| asked.id == *id)?;
        Some(self.asked.remove(place))
    }
}

impl State {
    /// The part of a request that the user has to be asked.
    pub(super) fn question(&self, query: &PermissionQuery) -> Option<Question> {
        let standing = self.standing(&query.origin);
        let none = BTreeSet::new();
        let stored = self.stored.get(&query.origin);
        query.question(&standing, stored.map_or(&none, |stored| &stored.servers))
    }

    /// Closes a request; the next one of its origin is shown.
    pub(super) fn finish(&mut self, id: &AskId, decision: Decision) {
        let Some(asked) = self.queue.take(id) else {
            return;
        };
        let origin = &asked.query.origin;
        if !asked.query.hidden {
            match decision {
                Decision::Once | Decision::Always => self.queue.forgive(origin),
                Decision::Denied | Decision::Unanswered => self.queue.refused(origin),
                Decision::NothingToAsk => {}
            }
        }
        asked.stage.send_replace(RequestState::Done(decision));
        // It leaves the list after the next one is ready to be shown.
        self.advance(origin);
    }

    /// Closes requests that have become unnecessary, and shows the first remaining one of each lane.
    pub(super) fn advance(&mut self, origin: &Origin) {
        let own = self.queue.asked.iter().map(|asked| &asked.query);
        let own = own.filter(|query| query.origin == *origin);
        let lanes: BTreeSet<_> = own.map(|query| query.lane().1.cloned()).collect();
        for lane in lanes {
            self.advance_lane(origin, lane.as_ref());
        }
    }

    fn advance_lane(&mut self, origin: &Origin, lane: Option<&TabId>) {
        // Closed requests leave the list after the displayed one is up to date.
        let mut dropped = Vec::new();
        loop {
            let mut own = self.queue.asked.iter();
            let first = own.find(|asked| asked.query.lane() == (origin, lane));
            let Some(first) = first.filter(|first| !first.deciding) else {
                return;
            };
            // A decision made elsewhere is no answer to a page that only claims the same origin.
            if lane.is_some() && first.is_shown() {
                return;
            }
            let (id, question) = (first.id.clone(), self.question(&first.query));
            match (question, self.queue.get_mut(&id)) {
                (Some(question), Some(first)) => {
                    // The displayed request does not change.
                    if !first.is_shown() {
                        first.open.update(body(&first.query, &question, 0));
                        first.question = question;
                        first.stage.send_replace(RequestState::Shown);
                    }
                    return;
                }
                _ => {
                    if let Some(first) = self.queue.take(&id) {
                        let nothing = RequestState::Done(Decision::NothingToAsk);
                        first.stage.send_replace(nothing);
                        dropped.push(first);
                    }
                }
            }
        }
    }
}
