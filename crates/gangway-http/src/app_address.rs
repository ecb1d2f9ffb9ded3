//! The URLs of apps: an origin for each app, so that none can read another's data.

use std::net::SocketAddr;

use gangway_core::AppName;

/// The placeholder for the app's name in `apps_url`.
pub const APP: &str = "{app}";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppAddresses {
    scheme: String,
    host: AppLocation,
    /// `:PORT`, or empty for the scheme's default port.
    port: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AppLocation {
    /// The name is a part of the host, between these two.
    Host(String, String),
    /// The name is the first segment of the path on this host. All apps share the origin, so their pages get none.
    Path(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "apps_url {0:?} must be http:// or https:// with {{app}} in its host, as in https://{{app}}.example.org, or as the \
     whole of its path, as in https://apps.example.org/{{app}}"
)]
pub struct BadAppsUrl(String);

/// A request on the host of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppRequest {
    pub app: AppName,
    /// The path inside the app, with a leading slash.
    pub path: String,
}

impl AppAddresses {
    /// `<app>.localhost` on this machine, otherwise `apps_url` of the settings.
    pub fn new(apps_url: Option<&str>, address: SocketAddr) -> Result<Self, BadAppsUrl> {
        match apps_url {
            Some(url) => Self::read(url).ok_or_else(|| BadAppsUrl(url.to_owned())),
            None => Ok(Self {
                scheme: "http".to_owned(),
                host: AppLocation::Host(String::new(), ".localhost".to_owned()),
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
                AppLocation::Host(before.to_owned(), after.to_owned())
            }
            (None, APP) if plain(host) && !host.is_empty() => AppLocation::Path(host.to_owned()),
            _ => return None,
        };
        Some(Self {
            scheme: scheme.to_owned(),
            host,
            port,
        })
    }

    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The URL of an app's first page, with a trailing slash.
    #[must_use]
    pub fn url(&self, app: &AppName) -> String {
        let Self { scheme, port, .. } = self;
        match &self.host {
            AppLocation::Host(before, after) => format!("{scheme}://{before}{app}{after}{port}/"),
            AppLocation::Path(host) => format!("{scheme}://{host}{port}/{app}/"),
        }
    }

    /// The origin of an app's pages; `null` where apps share one.
    #[must_use]
    pub fn origin(&self, app: &AppName) -> String {
        match &self.host {
            AppLocation::Host(..) => self.url(app).trim_end_matches('/').to_owned(),
            AppLocation::Path(_) => "null".to_owned(),
        }
    }

    /// The origin that an app's pages connect to.
    #[must_use]
    pub fn server(&self, app: &AppName) -> String {
        match &self.host {
            AppLocation::Host(..) => self.origin(app),
            AppLocation::Path(host) => format!("{}://{host}{}", self.scheme, self.port),
        }
    }

    /// Whether apps are served over TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    /// The cookie that identifies a browser on the host of an app, for all launches.
    #[must_use]
    pub fn cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            // The prefix keeps other hosts from setting it.
            (true, false) => "__Host-gangway",
            (true, true) => "__Secure-gangway",
            (false, _) => "gangway_browser",
        }
    }

    /// The cookie with the launch that a browser opened last; valid only together with the one above.
    #[must_use]
    pub fn launch_cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            (true, false) => "__Host-gangway-launch",
            (true, true) => "__Secure-gangway-launch",
            (false, _) => "gangway_launch",
        }
    }

    /// The cookie that lets a browser load an app's files.
    #[must_use]
    pub fn files_cookie(&self) -> &'static str {
        match (self.is_secure(), self.shared()) {
            (true, false) => "__Host-gangway-files",
            (true, true) => "__Secure-gangway-files",
            (false, _) => "gangway_files",
        }
    }

    /// Whether all apps share an origin, so that their pages are sandboxed without one.
    #[must_use]
    pub fn shared(&self) -> bool {
        matches!(self.host, AppLocation::Path(_))
    }

    /// The path prefix of an app on its host.
    #[must_use]
    pub fn prefix(&self, app: &AppName) -> String {
        match self.shared() {
            true => format!("/{app}"),
            false => String::new(),
        }
    }

    /// Whether a host, in lower case and without port, belongs to apps.
    #[must_use]
    pub fn is_ours(&self, host: &str) -> bool {
        match &self.host {
            AppLocation::Host(..) => self.in_host(host).is_some(),
            AppLocation::Path(own) => own == host,
        }
    }

    /// The app and path of a request on an app's host; `None` where no app has that name.
    #[must_use]
    pub fn asked(&self, host: &str, path: &str) -> Option<AppRequest> {
        if let AppLocation::Host(..) = self.host {
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
        let AppLocation::Host(before, after) = &self.host else {
            return None;
        };
        let name = host.strip_prefix(before.as_str())?;
        name.strip_suffix(after.as_str())?.parse().ok()
    }

    /// The `frame-src` of our own pages.
    #[must_use]
    pub fn frames(&self) -> String {
        let Self { scheme, port, .. } = self;
        match &self.host {
            // CSP allows wildcards only for whole labels.
            AppLocation::Host(_, after) => format!("{scheme}://*{after}{port}"),
            AppLocation::Path(host) => format!("{scheme}://{host}{port}"),
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
        // Otherwise another app could set it for this host.
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
