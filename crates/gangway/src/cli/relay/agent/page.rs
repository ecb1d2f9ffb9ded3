//! A small booking page without a browser, for agents that are checked.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Stages in their order.
const STAGES: [&str; 4] = ["movie", "seat", "ticket", "confirm"];

/// What is shown of the history in updates and results.
const HISTORY: usize = 10;

/// Why a call was refused: the code, and words.
pub(super) type Refused = (&'static str, String);

/// The page.
#[derive(Default)]
pub(super) struct Page {
    stage: usize,
    movie: Option<String>,
    seats: Vec<String>,
    quantities: BTreeMap<String, i64>,
    booked: bool,
    history: Vec<Value>,
}

impl Page {
    /// Whether the booking is done.
    pub(super) fn is_booked(&self) -> bool {
        self.booked
    }

    pub(super) fn stage(&self) -> &'static str {
        STAGES[self.stage]
    }

    /// The tools, as agents are told of them.
    pub(super) fn tools() -> Value {
        let text = |words: &str| json!({ "type": "string", "description": words });
        json!([
            { "name": "select", "description": "Chooses an item; a seat that is chosen is let go.",
              "parameters": { "itemId": text("The id of an item that is shown.") } },
            { "name": "setQuantity", "description": "Sets how many tickets of a kind; all together as many as seats.",
              "parameters": { "typeId": text("The kind of ticket."),
                              "quantity": { "type": "integer", "description": "How many.", "minimum": 0 } } },
            { "name": "next", "description": "Goes to the next stage; on the last one it books.", "parameters": {} },
            { "name": "prev", "description": "Goes to the stage before.", "parameters": {} },
        ])
    }

    fn items(&self) -> Vec<Value> {
        match self.stage() {
            "movie" => vec![
                json!({ "id": "m1", "title": "The Long Pier", "genre": "Drama" }),
                json!({ "id": "m2", "title": "Tea for Nine", "genre": "Comedy" }),
                json!({ "id": "m3", "title": "Sold Out", "genre": "Thriller", "isDisabled": true }),
            ],
            "seat" => {
                let row = |row: &'static str| {
                    (1..=6).map(move |n| {
                        json!({ "id": format!("{row}{n}"), "label": format!("{row}{n}"), "row": row, "number": n,
                            "kind": "standard", "isDisabled": row == "A" && n == 1 })
                    })
                };
                ["A", "B", "C"].into_iter().flat_map(row).collect()
            }
            "ticket" => vec![
                json!({ "id": "adult", "name": "Adult", "price": 12 }),
                json!({ "id": "child", "name": "Child", "price": 8 }),
            ],
            _ => vec![],
        }
    }

    /// What is shown.
    pub(super) fn spec(&self) -> Value {
        let items = self.items();
        let shown = |item: &Value| {
            let value = ["title", "label", "name"].iter().find_map(|n| item.get(n));
            json!({ "id": item["id"], "value": value, "isDisabled": item["isDisabled"] == true })
        };
        let mut state = json!({});
        match self.stage() {
            "movie" => state["selected"] = json!(self.movie),
            "seat" => state["selectedList"] = json!(self.seats),
            "ticket" => state["quantities"] = json!(self.quantities),
            _ => {}
        }
        if self.booked {
            state["booking"] = json!({ "code": "CHECK-1" });
        }
        let visible: Vec<_> = items.iter().map(shown).collect();
        json!({
            "stage": self.stage(), "title": format!("Choose: {}", self.stage()), "visibleItems": visible, "items": items,
            "state": state, "modification": {}, "display": { "valueField": "name", "component": "buttonGroup" },
        })
    }

    /// The end of what was said and done.
    pub(super) fn history(&self) -> &[Value] {
        &self.history[self.history.len().saturating_sub(HISTORY)..]
    }

    /// Takes something into the history.
    pub(super) fn note(&mut self, kind: &str, text: &str) {
        let id = format!("h{}", self.history.len() + 1);
        let at = jiff::Timestamp::now().to_string();
        self.history
            .push(json!({ "id": id, "type": kind, "timestamp": at, "text": text }));
    }

    /// Begins anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Uses a tool that is there, with params that fit its schema.
    pub(super) fn call(&mut self, tool: &str, params: &Value) -> Result<(), Refused> {
        match tool {
            "select" => self.select(params["itemId"].as_str().unwrap_or_default())?,
            "setQuantity" => self.count(params)?,
            "next" => self.next()?,
            _ => self.prev()?,
        }
        self.note("agent", &format!("Used {tool}"));
        Ok(())
    }

    fn select(&mut self, id: &str) -> Result<(), Refused> {
        let items = self.items();
        let item = items.iter().find(|item| item["id"] == id);
        let free = item.is_some_and(|item| item["isDisabled"] != true);
        match self.stage() {
            "movie" if free => self.movie = Some(id.to_owned()),
            "seat" if free => match self.seats.iter().position(|seat| seat == id) {
                Some(place) => {
                    self.seats.remove(place);
                }
                None => self.seats.push(id.to_owned()),
            },
            stage => {
                let words = format!("{id:?} cannot be chosen on the stage {stage}");
                return Err(("INVALID_PARAMS", words));
            }
        }
        Ok(())
    }

    fn count(&mut self, params: &Value) -> Result<(), Refused> {
        let kind = params["typeId"].as_str().unwrap_or_default();
        let quantity = params["quantity"].as_i64().unwrap_or(-1);
        let known = self.stage() == "ticket" && ["adult", "child"].contains(&kind);
        if !known || !(0..=20).contains(&quantity) {
            let words = "setQuantity takes a kind of the stage ticket, and 0 to 20";
            return Err(("INVALID_PARAMS", words.into()));
        }
        self.quantities.insert(kind.to_owned(), quantity);
        Ok(())
    }

    fn next(&mut self) -> Result<(), Refused> {
        let tickets: i64 = self.quantities.values().sum();
        let missing = match self.stage() {
            _ if self.booked => Some("it is booked already"),
            "movie" if self.movie.is_none() => Some("choose a movie first"),
            "seat" if self.seats.is_empty() => Some("choose a seat first"),
            "ticket" if tickets != i64::try_from(self.seats.len()).unwrap_or_default() => {
                Some("choose as many tickets as seats")
            }
            _ => None,
        };
        if let Some(words) = missing {
            return Err(("TOOL_EXECUTION_FAILED", words.into()));
        }
        match self.stage() {
            "confirm" => self.booked = true,
            _ => self.stage += 1,
        }
        Ok(())
    }

    fn prev(&mut self) -> Result<(), Refused> {
        if self.stage == 0 || self.booked {
            return Err(("TOOL_EXECUTION_FAILED", "there is no stage before".into()));
        }
        self.stage -= 1;
        Ok(())
    }
}
