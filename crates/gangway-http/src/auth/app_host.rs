//! Checks requests on the host of an app, which reach the app and nothing else of this server.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{Method, header},
};

use super::{
    Admitted,
    guard::{Guard, Refusal, forbidden},
    near::{check_near, comes_across},
};
use crate::{
    Http,
    extract::{is_json, not_json},
};

impl Guard {
    /// Who may load the app's files is decided where they are served.
    pub(super) fn check_app(
        &self,
        http: &Http,
        request: &Request,
        host: &str,
        peer: IpAddr,
    ) -> Result<Admitted, Refusal> {
        let headers = request.headers();
        let asked = http.addresses.asked(host, request.uri().path());
        let api = asked
            .as_ref()
            .is_some_and(|asked| self.is_app_api(&asked.app, &asked.path));
        let own = asked.map(|asked| http.addresses.origin(&asked.app));
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let origin = origins.next().map(|value| value.as_bytes());
        let foreign = origin != own.as_deref().map(str::as_bytes) || origins.next().is_some();
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        // Pages of other origins may load files, but not read the API.
        let reads_api = api && (origin.is_some() || comes_across(headers));
        if foreign && (!reads || reads_api || headers.contains_key(header::UPGRADE)) {
            let message = "only pages of this app may use its API";
            return Err(("origin", forbidden("origin_not_allowed", message)));
        }
        if api && !reads && headers.contains_key(header::CONTENT_TYPE) && !is_json(headers) {
            return Err(("content_type", not_json()));
        }
        if self.is_local() {
            check_near(headers)?;
        }
        self.check_rate(peer)?;
        Ok(Admitted::Anyone)
    }

    /// The origins that serve only our own pages.
    pub fn own_origins(&self) -> impl Iterator<Item = String> + '_ {
        let own = |origin: &&String| !self.guests.contains(*origin);
        self.origins.iter().filter(own).cloned()
    }
}
