//! A small booking page without a browser, for checking agents.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const STAGES: [&str; 4] = ["movie", "seat", "ticket", "confirm"];

/// Length of the history in updates and results.
const HISTORY: usize = 10;

/// Error code and message.
pub(super) type PageError = (&'static str, String);

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
    pub(super) fn is_booked(&self) -> bool {
        self.booked
    }

    pub(super) fn stage(&self) -> &'static str {
        STAGES[self.stage]
    }

    /// The `toolSchema` of this stage.
    pub(super) fn tools(&self) -> Value {
        let offered = |tool: &Value| match tool["name"].as_str() {
            _ if self.booked => false,
            Some("select") => matches!(self.stage(), "movie" | "seat"),
            Some("setQuantity") => self.stage() == "ticket",
            Some("prev") => self.stage > 0,
            _ => true,
        };
        Self::all_tools().into_iter().filter(offered).collect()
    }

    /// Whether a tool exists on any stage.
    pub(super) fn knows(tool: &str) -> bool {
        Self::all_tools().iter().any(|known| known["name"] == tool)
    }

    fn all_tools() -> [Value; 4] {
        let text = |message: &str| json!({ "type": "string", "description": message });
        [
            json!({ "name": "select", "description": "Selects an item, or deselects a selected seat.",
              "parameters": { "itemId": text("The id of a visible item.") } }),
            json!({ "name": "setQuantity", "description": "Sets the number of tickets of a type; the total must equal the number of seats.",
              "parameters": { "typeId": text("The ticket type."),
                              "quantity": { "type": "integer", "description": "The quantity.", "minimum": 0 } } }),
            json!({ "name": "next", "description": "Goes to the next stage; on the last stage, books.", "parameters": {} }),
            json!({ "name": "prev", "description": "Goes to the previous stage.", "parameters": {} }),
        ]
    }

    fn items(&self) -> Vec<Value> {
        items_of(self.stage())
    }

    /// The current selection.
    fn booking(&self) -> Value {
        let named = |stage: &str, id: &str| {
            let items = items_of(stage);
            let item = items.iter().find(|item| item["id"] == id);
            json!({ "id": id, "value": item.map(value_of) })
        };
        let seats: Vec<_> = self.seats.iter().map(|id| named("seat", id)).collect();
        let tickets = self.quantities.iter().filter(|(_, count)| **count > 0);
        let tickets: Vec<_> = tickets
            .map(|(id, count)| json!({ "item": named("ticket", id), "count": count }))
            .collect();
        let mut booking = json!({ "status": if self.booked { "booked" } else { "open" } });
        if let Some(movie) = &self.movie {
            booking["movie"] = named("movie", movie);
        }
        if !seats.is_empty() {
            booking["seats"] = json!(seats);
        }
        if !tickets.is_empty() {
            booking["tickets"] = json!(tickets);
        }
        if self.booked {
            booking["code"] = json!("CHECK-1");
        }
        booking
    }

    /// All ticket types with their quantities.
    fn quantities(&self) -> Value {
        let kinds = self.items().into_iter();
        let counted = kinds.map(|kind| {
            let id = kind["id"].as_str().unwrap_or_default();
            let count = self.quantities.get(id).copied().unwrap_or_default();
            json!({ "item": { "id": id, "value": value_of(&kind) }, "count": count })
        });
        counted.collect()
    }

    pub(super) fn spec(&self) -> Value {
        let items = self.items();
        let shown = |item: &Value| json!({ "id": item["id"], "value": value_of(item), "isDisabled": item["isDisabled"] == true });
        let booking = self.booking();
        let mut state = json!({});
        match self.stage() {
            "movie" if self.movie.is_some() => state["selected"] = booking["movie"].clone(),
            "seat" if self.seats.is_empty() => state["selectedList"] = json!([]),
            "seat" => state["selectedList"] = booking["seats"].clone(),
            "ticket" => state["quantities"] = self.quantities(),
            _ => {}
        }
        state["booking"] = booking;
        let visible: Vec<_> = items.iter().map(shown).collect();
        json!({
            "stage": self.stage(), "title": format!("Choose: {}", self.stage()), "visibleItems": visible, "items": items,
            "state": state, "modification": {}, "display": { "valueField": "name", "component": "buttonGroup" },
        })
    }

    /// The end of the history.
    pub(super) fn history(&self) -> &[Value] {
        &self.history[self.history.len().saturating_sub(HISTORY)..]
    }

    /// Adds to the history.
    pub(super) fn note(&mut self, kind: &str, text: &str) {
        let id = format!("h{}", self.history.len() + 1);
        let at = jiff::Timestamp::now().to_string();
        self.history
            .push(json!({ "id": id, "type": kind, "timestamp": at, "text": text }));
    }

    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Calls an offered tool with valid params.
    pub(super) fn call(&mut self, tool: &str, params: &Value) -> Result<(), PageError> {
        match tool {
            "select" => self.select(params["itemId"].as_str().unwrap_or_default())?,
            "setQuantity" => self.count(params)?,
            "next" => self.next()?,
            _ => self.prev()?,
        }
        self.note("agent", &format!("Used {tool}"));
        Ok(())
    }

    fn select(&mut self, id: &str) -> Result<(), PageError> {
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
                let message = format!("{id:?} cannot be selected on the stage {stage}");
                return Err(("INVALID_PARAMS", message));
            }
        }
        Ok(())
    }

    fn count(&mut self, params: &Value) -> Result<(), PageError> {
        let kind = params["typeId"].as_str().unwrap_or_default();
        let quantity = params["quantity"].as_i64().unwrap_or(-1);
        let known = self.stage() == "ticket" && ["adult", "child"].contains(&kind);
        if !known || !(0..=20).contains(&quantity) {
            let message = "setQuantity takes a ticket type of the stage ticket, and 0 to 20";
            return Err(("INVALID_PARAMS", message.into()));
        }
        self.quantities.insert(kind.to_owned(), quantity);
        Ok(())
    }

    fn next(&mut self) -> Result<(), PageError> {
        let tickets: i64 = self.quantities.values().sum();
        let missing = match self.stage() {
            _ if self.booked => Some("already booked"),
            "movie" if self.movie.is_none() => Some("select a movie first"),
            "seat" if self.seats.is_empty() => Some("select a seat first"),
            "ticket" if tickets != i64::try_from(self.seats.len()).unwrap_or_default() => {
                Some("the number of tickets must equal the number of seats")
            }
            _ => None,
        };
        if let Some(message) = missing {
            return Err(("TOOL_EXECUTION_FAILED", message.into()));
        }
        match self.stage() {
            "confirm" => self.booked = true,
            _ => self.stage += 1,
        }
        Ok(())
    }

    fn prev(&mut self) -> Result<(), PageError> {
        if self.stage == 0 || self.booked {
            return Err(("TOOL_EXECUTION_FAILED", "there is no previous stage".into()));
        }
        self.stage -= 1;
        Ok(())
    }
}

fn items_of(stage: &str) -> Vec<Value> {
    match stage {
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

/// The display name of an item.
fn value_of(item: &Value) -> Value {
    let names = ["title", "label", "name"];
    let value = names.iter().find_map(|name| item.get(name));
    value.cloned().unwrap_or_default()
}
