//! A cinema on a server of its own.

use std::sync::Arc;

use gangway_cinema::{BookingConfig, BoxOffice, routes::routes};
use gangway_http::routes::Routes;
use gangway_testing::server::{Parts, Service, ServiceServer};

pub type TestServer = ServiceServer<CinemaService>;

pub struct CinemaService;

impl Service for CinemaService {
    type Config = BookingConfig;

    async fn start(config: &BookingConfig, parts: Parts) -> (Self, Routes) {
        let office = Arc::new(BoxOffice::new(config, &parts.data));
        (Self, routes().with_state(Some(office)))
    }
}
