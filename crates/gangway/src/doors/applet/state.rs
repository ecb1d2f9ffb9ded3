//! The state that an applet shares with agents and other tabs.

use gangway_core::{Command, Receipt, Slug, Source};
use serde_json::{Map, Value};

use super::{
    channel::{Channel, Refusal},
    out::Out,
    wire::AppletTold,
};

impl Channel {
    pub(super) async fn set_state(
        &self,
        out: &Out,
        id: &Option<Value>,
        data: Map<String, Value>,
    ) -> Result<(), Refusal> {
        let applet = self.own_applet()?;
        let command = Command::SetState {
            applet: applet.clone(),
            patch: data.clone(),
            source: Source::Applet {
                slug: applet.to_string(),
            },
        };
        let receipt = match self.request_name(id) {
            Some(name) => self.session.submit_once(command, name).await?,
            None => self.session.submit(command).await?,
        };
        if let Receipt::State { version, seq } = receipt
            && id.is_some()
        {
            let told = AppletTold::StateUpdate {
                id: id.clone(),
                applet: applet.to_string(),
                data,
                version,
                seq,
            };
            out.tell(&told).await;
        }
        Ok(())
    }

    pub(super) async fn get_state(
        &self,
        out: &Out,
        id: &Option<Value>,
        key: Option<String>,
    ) -> Result<(), Refusal> {
        let applet = self.own_applet()?;
        let state = self.app.hub.state(self.session.id(), applet).await?;
        let mut state = state.unwrap_or_default();
        if let Some(key) = key {
            let value = state.data.remove(&key).unwrap_or_default();
            state.data = Map::from_iter([(key, value)]);
        }
        let told = AppletTold::State {
            id: id.clone().unwrap_or_default(),
            data: state.data,
            version: state.version,
        };
        out.tell(&told).await;
        Ok(())
    }

    fn own_applet(&self) -> Result<&Slug, Refusal> {
        let words = "this channel belongs to no applet; open it with ?applet=SLUG";
        self.applet
            .as_ref()
            .ok_or_else(|| Refusal::new("no_applet", words))
    }

    /// The name of a request over several connections.
    pub(super) fn request_name(&self, id: &Option<Value>) -> Option<String> {
        let (client, id) = (self.client.as_ref()?, id.as_ref()?);
        let applet = self.applet.as_ref().map_or("", |slug| slug.as_str());
        Some(format!("applet:{applet}:{client}:{id}"))
    }
}
