//! The questions that wait for the person: one of an origin at a time, oldest first, and not too many.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Arc, Weak},
    time::Duration,
};

use gangway_core::{AskId, Asker, Asks, Lane, NewAsk, OpenAsk, Origin, TabId, asks::Answering};
use tokio::{sync::watch, time::Instant};

use super::{
    Permissions, State,
    show::body,
    site::Site,
    wish::{Decision, Question, TooMany, Wish},
};

/// How long the person has.
const TIMEOUT: Duration = Duration::from_secs(118);

/// Questions in all; a person answers one after the other. Hidden ones are counted apart, since anyone may bring them.
const MOST: usize = 32;

/// Questions of one site, whichever of its origins ask.
const OF_SITE: usize = 4;

/// Pages that wait for the same question.
const WAITERS: usize = 64;

/// A site whose questions were not answered with yes so often within this time has to wait.
const REFUSALS: usize = 10;
const REFUSALS_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Sites whose refusals are counted.
const COUNTED: usize = 1000;

/// How far a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Shown,
    Done(Decision),
}

/// A question that waits.
pub(super) struct Asked {
    pub(super) id: AskId,
    pub(super) wish: Wish,
    pub(super) question: Question,
    /// Its place in the list of everything that waits for the person.
    open: OpenAsk,
    pub(super) until: Instant,
    pub(super) tabs: BTreeSet<TabId>,
    pub(super) stage: watch::Sender<Stage>,
    pub(super) waiters: usize,
    /// An answer is being written.
    pub(super) deciding: bool,
}

impl Asked {
    pub(super) fn is_shown(&self) -> bool {
        *self.stage.borrow() == Stage::Shown
    }
}

/// All of them, oldest first.
pub(super) struct Queue {
    asks: Arc<Asks>,
    answering: Answering,
    asked: Vec<Asked>,
    refusals: HashMap<Site, VecDeque<Instant>>,
}

impl Queue {
    /// A queue whose answers go to these permissions.
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

    /// Puts a wish into the queue, or joins the same one.
    pub(super) fn enter(
        &mut self,
        wish: Wish,
        question: Question,
    ) -> Result<(AskId, watch::Receiver<Stage>), TooMany> {
        let same = |asked: &&mut Asked| {
            asked.wish.lane() == wish.lane() && !asked.deciding && asked.wish.is_same(&wish)
        };
        if let Some(same) = self.asked.iter_mut().find(same) {
            if same.waiters >= WAITERS {
                return Err(TooMany);
            }
            same.waiters += 1;
            same.tabs.insert(wish.tab);
            return Ok((same.id.clone(), same.stage.subscribe()));
        }
        let alike = || self.asked.iter().filter(|a| a.wish.hidden == wish.hidden);
        let site = Site::from(&wish.origin);
        let before = alike().filter(|a| Site::from(&a.wish.origin) == site);
        if before.count() >= OF_SITE || alike().count() >= MOST {
            return Err(TooMany);
        }
        if !wish.hidden && self.is_refused_often(&site) {
            return Err(TooMany);
        }
        let first = !self.asked.iter().any(|a| a.wish.lane() == wish.lane());
        let stage = if first { Stage::Shown } else { Stage::Waiting };
        let (stage, receiver) = watch::channel(stage);
        let (origin, tab) = wish.lane();
        let new = NewAsk {
            asker: Asker::Site(origin.clone()),
            body: body(&wish, &question, 0),
            // Shown in the same order as here; the limits are those above.
            lane: Lane {
                name: match tab {
                    Some(tab) => format!("permission/{origin}/{tab}"),
                    None => format!("permission/{origin}"),
                },
                limit: usize::MAX,
                one_at_a_time: true,
            },
            timeout: Some(TIMEOUT),
            hidden: wish.hidden,
        };
        let answering = Arc::clone(&self.answering);
        let open = self.asks.open(new, answering).map_err(|_| TooMany)?;
        let id = open.id().clone();
        self.asked.push(Asked {
            id: id.clone(),
            open,
            tabs: BTreeSet::from([wish.tab.clone()]),
            wish,
            question,
            until: Instant::now() + TIMEOUT,
            stage,
            waiters: 1,
            deciding: false,
        });
        Ok((id, receiver))
    }

    pub(super) fn get(&self, id: &AskId) -> Option<&Asked> {
        self.asked.iter().find(|asked| asked.id == *id)
    }

    pub(super) fn get_mut(&mut self, id: &AskId) -> Option<&mut Asked> {
        self.asked.iter_mut().find(|asked| asked.id == *id)
    }

    /// Updates what the person sees: how many requests of the same origin come after each.
    pub(super) fn publish(&self) {
        for asked in self.asked.iter().filter(|asked| asked.is_shown()) {
            let waiting = match asked.wish.hidden {
                true => 0,
                false => self.behind(&asked.wish.origin),
            };
            let body = body(&asked.wish, &asked.question, waiting);
            asked.open.update(body);
        }
    }

    /// How many wait behind those that are shown of this origin.
    fn behind(&self, origin: &Origin) -> usize {
        let waits = |asked: &&Asked| asked.wish.origin == *origin && !asked.is_shown();
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

    /// The person has thought about an origin of this site, so it begins anew.
    pub(super) fn forgive(&mut self, origin: &Origin) {
        self.refusals.remove(&Site::from(origin));
    }

    /// All of them begin anew.
    pub(super) fn forgive_all(&mut self) {
        self.refusals.clear();
    }

    fn take(&mut self, id: &AskId) -> Option<Asked> {
        let place = self.asked.iter().position(|asked| asked.id == *id)?;
        Some(self.asked.remove(place))
    }
}

impl State {
    /// What of a wish the person has to be asked.
    pub(super) fn question(&self, wish: &Wish) -> Option<Question> {
        let standing = self.standing(&wish.origin);
        let none = BTreeSet::new();
        let kept = self.kept.get(&wish.origin);
        wish.question(&standing, kept.map_or(&none, |kept| &kept.servers))
    }

    /// Ends a question; the next one of its origin is shown.
    pub(super) fn finish(&mut self, id: &AskId, decision: Decision) {
        let Some(asked) = self.queue.take(id) else {
            return;
        };
        let origin = &asked.wish.origin;
        if !asked.wish.hidden {
            match decision {
                Decision::Once | Decision::Always => self.queue.forgive(origin),
                Decision::Denied | Decision::Unanswered => self.queue.refused(origin),
                Decision::NothingToAsk => {}
            }
        }
        asked.stage.send_replace(Stage::Done(decision));
        // It leaves the list after the next one is ready to be seen.
        self.advance(origin);
    }

    /// Drops questions about which there is nothing to ask any more, and shows the first that is left of each lane.
    pub(super) fn advance(&mut self, origin: &Origin) {
        let own = self.queue.asked.iter().map(|asked| &asked.wish);
        let own = own.filter(|wish| wish.origin == *origin);
        let lanes: BTreeSet<_> = own.map(|wish| wish.lane().1.cloned()).collect();
        for lane in lanes {
            self.advance_lane(origin, lane.as_ref());
        }
    }

    fn advance_lane(&mut self, origin: &Origin, lane: Option<&TabId>) {
        // Those that are dropped leave the list after the one that is shown is up to date.
        let mut dropped = Vec::new();
        loop {
            let mut own = self.queue.asked.iter();
            let first = own.find(|asked| asked.wish.lane() == (origin, lane));
            let Some(first) = first.filter(|first| !first.deciding) else {
                return;
            };
            // What was decided elsewhere is no answer to somebody who only claims the same origin.
            if lane.is_some() && first.is_shown() {
                return;
            }
            let (id, question) = (first.id.clone(), self.question(&first.wish));
            match (question, self.queue.get_mut(&id)) {
                (Some(question), Some(first)) => {
                    // What is before the person's eyes does not change.
                    if !first.is_shown() {
                        first.open.update(body(&first.wish, &question, 0));
                        first.question = question;
                        first.stage.send_replace(Stage::Shown);
                    }
                    return;
                }
                _ => {
                    if let Some(first) = self.queue.take(&id) {
                        let nothing = Stage::Done(Decision::NothingToAsk);
                        first.stage.send_replace(nothing);
                        dropped.push(first);
                    }
                }
            }
        }
    }
}
