//! What a person does to log in at a server.

use crate::{
    host::Host,
    oauth::Place,
    outbound,
    spec::{ServerId, Transport},
};

impl Host {
    /// Begins a login at a server and says which page the person is to open in a browser. The browser comes back to
    /// the callback, a URL of Gangway's own.
    pub async fn log_in(&self, id: &ServerId, callback: &str) -> Result<String, String> {
        let server = self.server(id.as_str());
        let server = server.ok_or_else(|| format!("there is no server {id}"))?;
        let Transport::Http { url, policy, .. } = &server.spec.transport else {
            return Err(format!("{id} is no server that one logs in at"));
        };
        let place = Place {
            store: self
                .settings
                .tokens
                .clone()
                .ok_or("there is no place for tokens")?,
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

    /// Ends a login with the whole URL that the browser came back to, and starts that server anew.
    pub async fn logged_in(&self, callback: &str) -> Result<ServerId, String> {
        let id = self.logins.end(callback).await?;
        self.restart(&id).await;
        Ok(id)
    }

    /// Forgets what a server gave after a login, and starts it anew.
    pub async fn log_out(&self, id: &ServerId) -> Result<(), String> {
        if let Some(store) = &self.settings.tokens {
            store.save(id.clone(), None).await?;
        }
        self.restart(id).await;
        Ok(())
    }
}
