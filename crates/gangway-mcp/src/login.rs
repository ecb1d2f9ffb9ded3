//! Logging in at a server.

use crate::{
    host::Host,
    oauth::LoginTarget,
    outbound,
    spec::{ServerId, Transport},
};

impl Host {
    /// Starts a login and returns the page to open in a browser, which then returns to the callback, a URL of Gangway.
    pub async fn log_in(&self, id: &ServerId, callback: &str) -> Result<String, String> {
        let server = self.server(id.as_str());
        let server = server.ok_or_else(|| format!("server {id} not found"))?;
        let Transport::Http { url, policy, .. } = &server.spec.transport else {
            return Err(format!("{id} does not support logins"));
        };
        let place = LoginTarget {
            store: self
                .settings
                .tokens
                .clone()
                .ok_or("tokens cannot be stored")?,
            server: id.clone(),
            url: outbound::check(url, *policy).map_err(|refused| refused.to_string())?,
            policy: *policy,
            client: server.spec.login.clone(),
            resolver: self.settings.resolver.clone(),
        };
        let refused = server.live().and_then(|live| live.refused());
        let challenge = refused.map(|refused| refused.text).or_else(|| {
            let challenge = server.challenge.lock();
            challenge.clone()
        });
        self.logins
            .begin(&place, callback, challenge.as_deref())
            .await
    }

    /// Completes a login with the full callback URL, and restarts that server.
    pub async fn logged_in(&self, callback: &str) -> Result<ServerId, String> {
        let id = self.logins.end(callback).await?;
        self.restart(&id).await;
        Ok(id)
    }

    /// Deletes a server's tokens, and restarts it.
    pub async fn log_out(&self, id: &ServerId) -> Result<(), String> {
        if let Some(store) = &self.settings.tokens {
            store.save(id.clone(), None).await?;
        }
        self.restart(id).await;
        Ok(())
    }
}
