//! Where apps are found: an origin for each, so that none can read what another keeps.

use std::net::SocketAddr;

use gangway_core::AppName;

/// The place of an app's name in the address of apps.
pub const APP: &str = "{app}";

/// The addresses of all apps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppAddresses {
    scheme: String,
    /// What stands before and after the app's name in the host, or the whole host.
    host: Place,
    /// `:PORT`, or nothing where the scheme says it.
    port: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// The name is a part of the host: `<app>` between these two.
    Host(String, String),
    /// The name is the first part of the path below this host: one origin for all, so pages get none.
    Path(String),
}

/// An address of apps that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "apps_url {0:?} must be http:// or https:// with {{app}} in its host, as in https://{{app}}.example.org, or as the \
     whole of its path, as in https://apps.example.org/{{app}}"
)]
pub struct BadAppsUrl(String);

/// What a request on a host of apps asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppRequest {
    /// The app.
    pub app: AppName,
    /// The path in it, beginning with a slash.
    pub path: String,
}

impl AppAddresses {
    /// On this machine `<app>.localhost`, otherwise as the settings say.
    pub fn new(apps_url: Option<&str>, address: SocketAddr) -> Result<Self, BadAppsUrl> {
        match apps_url {
            Some(url) => Self::read(url).ok_or_else(|| BadAppsUrl(url.to_owned())),
            None => Ok(Self {
                scheme: "http".to_owned(),
                host: Place::Host(String::new(), ".localhost".to_owned()),
                port: format!(":{}", address.port()),
            }),
        }
    }

    fn read(url: &str) -> Option<Self> {
        let url = url.trim_end_matches('/').to_lowercase();
        let (scheme, rest) = url.split_once("://")?;
        if !matches!(scheme, "http" | "https") || rest.contains(['?', '#', '@', ' ', '\\']) {
            return None;
        }
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |(a, p)| (a, p));
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, format!(":{}", port.parse::<u16>().ok()?)),
            None => (authority, String::new()),
        };
        let plain = |text: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
            text.chars().all(fits)
        };
        let host = match (host.split_once(APP), path) {
            (Some((before, after)), "")
                if plain(before) && after.starts_with('.') && plain(after) =>
            {
                Place::Host(before.to_owned(), after.to_owned())
            }
            (None, APP) if plain(host) && !host.is_empty() => Place::Path(host.to_owned()),
            _ => return None,
        };
        Some(Self {
            scheme: scheme.to_owned(),
            host,
            port,
        })
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The address of an app's first page, ending with a slash.
    #[must_use]
    pub fn url(&self, app: &AppName) -> String {
        let Self { scheme, port, .. } = self;
        match &self.host {
            Place::Host(before, after) => format!("{scheme}://{before}{app}{after}{port}/"),
            Place::Path(host) => format!("{scheme}://{host}{port}/{app}/"),
        }
    }

    /// The origin of an app's pages; `null` where they have none.
    #[must_use]
    pub fn origin(&self, app: &AppName) -> String {
        match &self.host {
            Place::Host(..) => self.url(app).trim_end_matches('/').to_owned(),
            Place::Path(_) => "null".to_owned(),
        }
    }

    /// The origin that the app's server has, to connect to from its pages.
    #[must_use]
    pub fn server(&self, app: &AppName) -> String {
        match &self.host {
            Place::Host(..) => self.origin(app),
            Place::Path(host) => format!("{}://{host}{}", self.scheme, self.port),
        }
    }

    /// Whether browsers reach apps over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    /// The cookie by which the host of an app knows a browser: one, however many launches it opens.
    #[must_use]
    pub fn cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            // Browsers let no other host set one of this name.
            (true, false) => "__Host-gangway",
            (true, true) => "__Secure-gangway",
            (false, _) => "gangway_browser",
        }
    }

    /// The cookie that says which launch a browser opened last; it is good beside the one above alone.
    #[must_use]
    pub fn launch_cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            (true, false) => "__Host-gangway-launch",
            (true, true) => "__Secure-gangway-launch",
            (false, _) => "gangway_launch",
        }
    }

    /// The cookie that lets a browser load the files of an app.
    #[must_use]
    pub fn files_cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            (true, false) => "__Host-gangway-files",
            (true, true) => "__Secure-gangway-files",
            (false, _) => "gangway_files",
        }
    }

    /// Whether all apps share an origin, so that their pages must go without one.
    #[must_use]
    pub fn shared(&self) -> bool {
        matches!(self.host, Place::Path(_))
    }

    /// What precedes the path in an app on its host.
    #[must_use]
    pub fn prefix(&self, app: &AppName) -> String {
        match self.shared() {
            true => format!("/{app}"),
            false => String::new(),
        }
    }

    /// Whether a host, without port and in small letters, is one of apps.
    #[must_use]
    pub fn is_ours(&self, host: &str) -> bool {
        match &self.host {
            Place::Host(..) => self.in_host(host).is_some(),
            Place::Path(own) => own == host,
        }
    }

    /// What is asked for on a host of apps; nothing where no app can be meant.
    #[must_use]
    pub fn asked(&self, host: &str, path: &str) -> Option<AppRequest> {
        if let Place::Host(..) = self.host {
            let app = self.in_host(host)?;
            let path = path.to_owned();
            return Some(AppRequest { app, path });
        }
        let rest = path.strip_prefix('/')?;
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let (app, path) = (name.parse().ok()?, format!("/{rest}"));
        Some(AppRequest { app, path })
    }

    fn in_host(&self, host: &str) -> Option<AppName> {
        let Place::Host(before, after) = &self.host else {
            return None;
        };
        let name = host.strip_prefix(before.as_str())?;
        name.strip_suffix(after.as_str())?.parse().ok()
    }

    /// What our own pages may hold in a frame, for their policy.
    #[must_use]
    pub fn frames(&self) -> String {
        let Self { scheme, port, .. } = self;
        match &self.host {
            // A policy knows stars for whole labels alone.
            Place::Host(_, after) => format!("{scheme}://*{after}{port}"),
            Place::Path(host) => format!("{scheme}://{host}{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(url: Option<&str>) -> AppAddresses {
        AppAddresses::new(url, "127.0.0.1:3000".parse().unwrap()).unwrap()
    }

    #[test]
    fn every_app_has_an_origin_of_its_own() {
        let name: AppName = "card-game".parse().unwrap();
        let local = addresses(None);
        assert_eq!(local.url(&name), "http://card-game.localhost:3000/");
        assert_eq!(local.origin(&name), "http://card-game.localhost:3000");
        let asked = local.asked("card-game.localhost", "/a/b").unwrap();
        assert_eq!((asked.app, asked.path.as_str()), (name.clone(), "/a/b"));
        for other in [
            "localhost",
            "a.b.localhost",
            "-a.localhost",
            "a.localhost.evil.example",
        ] {
            assert!(!local.is_ours(other), "{other}");
        }
        let public = addresses(Some("https://{app}.apps.example.org/"));
        assert_eq!(public.origin(&name), "https://card-game.apps.example.org");
        assert_eq!(public.frames(), "https://*.apps.example.org");
        // An app beside it could set any other for its host.
        assert_eq!(public.cookie(), "__Host-gangway");
        assert_eq!(local.cookie(), "gangway_browser");
    }

    #[test]
    fn apps_that_share_a_host_have_no_origin_at_all() {
        let name: AppName = "card-game".parse().unwrap();
        let shared = addresses(Some("https://apps.example.org/{app}"));
        assert_eq!(shared.url(&name), "https://apps.example.org/card-game/");
        assert_eq!(shared.origin(&name), "null");
        let asked = shared.asked("apps.example.org", "/card-game/x.js").unwrap();
        assert_eq!((asked.app, asked.path.as_str()), (name, "/x.js"));
        assert_eq!(shared.asked("apps.example.org", "/"), None);
        assert_eq!(shared.cookie(), "__Secure-gangway");
    }

    #[test]
    fn addresses_that_make_no_sense_are_refused() {
        for bad in [
            "",
            "{app}",
            "ftp://{app}.x",
            "https://example.org",
            "https://{app}",
            "https://x/y/{app}",
            "https://{app}.x/{app}",
            "https://a@{app}.x",
            "https://{app}.x:99999",
        ] {
            let read = AppAddresses::new(Some(bad), "127.0.0.1:1".parse().unwrap());
            assert!(read.is_err(), "{bad}");
        }
    }
}
