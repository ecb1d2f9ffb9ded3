//! A REST client for bookings.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::server::Client;

/// A showing of tomorrow with free seats.
pub struct Visit {
    pub movie: String,
    pub theater: String,
    pub date: String,
    pub showing: String,
    pub free: Vec<String>,
    pub taken: Vec<String>,
}

pub fn ids(list: &Value) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("{list}")).iter();
    items
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

pub async fn get(server: &Client, path: &str) -> Value {
    let (status, answer) = server.get(&format!("/api/booking/{path}")).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

/// The status and code of an error; checks the envelope.
pub fn refusal((status, answer): (StatusCode, Value)) -> (u16, String) {
    assert_eq!(answer["status"], status.as_u16(), "{answer}");
    assert!(answer["message"].as_str().unwrap().len() > 10, "{answer}");
    assert!(answer["retryable"].is_boolean(), "{answer}");
    let code = answer["error_code"].as_str().unwrap().to_owned();
    (status.as_u16(), code)
}

impl Visit {
    /// Navigates from the movies to a showing with enough free seats.
    pub async fn choose(server: &Client) -> Self {
        let movies = get(server, "movies").await;
        let movie = ids(&movies["movies"]).swap_remove(0);
        let theaters = get(server, &format!("theaters?movieId={movie}")).await;
        let theater = ids(&theaters["theaters"]).swap_remove(0);
        let of = format!("movieId={movie}&theaterId={theater}");
        let dates = get(server, &format!("dates?{of}")).await;
        let dates = dates["dates"].as_array().unwrap().clone();
        for date in dates.iter().skip(1) {
            let date = date.as_str().unwrap().to_owned();
            let found = get(server, &format!("showings?{of}&date={date}")).await;
            for showing in found["showings"].as_array().unwrap() {
                if showing["seatsLeft"].as_u64().unwrap() < 30 {
                    continue;
                }
                let showing = showing["id"].as_str().unwrap().to_owned();
                let by = |status: &'static str, seats: &Value| {
                    let seats = seats["seats"].as_array().unwrap().iter();
                    let seats = seats.filter(|seat| seat["status"] == status);
                    seats
                        .map(|seat| seat["id"].as_str().unwrap().to_owned())
                        .collect()
                };
                let seats = get(server, &format!("showings/{showing}/seats")).await;
                return Self {
                    movie,
                    theater,
                    date,
                    showing,
                    free: by("free", &seats),
                    taken: by("taken", &seats),
                };
            }
        }
        panic!("no showing has seats");
    }

    pub async fn try_hold(
        &self,
        server: &Client,
        seats: &[String],
        hold: Option<&str>,
    ) -> (StatusCode, Value) {
        let mut body = json!({ "showingId": self.showing, "seats": seats });
        if let Some(hold) = hold {
            body["holdId"] = hold.into();
        }
        server.post("/api/booking/holds", body).await
    }

    /// The id of a new hold.
    pub async fn hold(&self, server: &Client, seats: &[String]) -> String {
        let (status, held) = self.try_hold(server, seats, None).await;
        assert_eq!(status, StatusCode::CREATED, "{held}");
        held["holdId"].as_str().unwrap().to_owned()
    }

    pub async fn book(
        &self,
        server: &Client,
        hold: &str,
        tickets: Value,
        name: Option<&str>,
    ) -> (StatusCode, Value) {
        let body = json!({ "showingId": self.showing, "holdId": hold, "tickets": tickets });
        let url = server.url("/api/booking/bookings");
        let mut request = server.http.request(Method::POST, url).json(&body);
        if let Some(name) = name {
            request = request.header("idempotency-key", name);
        }
        let response = request.send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    /// The owner of a seat, as seen by the holder of this hold.
    pub async fn status(&self, server: &Client, seat: &str, hold: Option<&str>) -> String {
        let query = hold.map_or(String::new(), |hold| format!("?holdId={hold}"));
        let seats = get(server, &format!("showings/{}/seats{query}", self.showing)).await;
        let seats = seats["seats"].as_array().unwrap();
        let found = seats.iter().find(|one| one["id"] == seat).unwrap();
        found["status"].as_str().unwrap().to_owned()
    }
}
