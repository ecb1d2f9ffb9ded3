//! Where permissions are looked at and changed: at the running Gangway, or here on the folder.

use std::{path::Path, sync::Arc};

use gangway_client::DataFolder;
use gangway_core::{Origin, Store};

use super::super::through::{Place, Through, encoded};
use crate::permissions::{
    By, Permissions, Settings,
    wire::{AuditPage, OriginPermissions, PermissionList, SetPermissions},
};

/// Where to ask.
pub(super) enum Desk {
    /// At a server.
    Server(Through),
    /// Here; nobody else may have the folder meanwhile.
    Here(
        Arc<Permissions>,
        #[allow(dead_code, reason = "held, not read")] DataFolder,
    ),
}

impl Desk {
    pub(super) async fn open(data: &Path) -> anyhow::Result<Self> {
        Ok(match Place::find(data)? {
            Place::Server(server) => Self::Server(server),
            Place::Folder(folder) => {
                let store = Store::open(folder.path())?;
                Self::Here(Permissions::load(store).await?, folder)
            }
        })
    }

    /// The running Gangway: pages ask nobody else.
    pub(super) fn server(&self) -> anyhow::Result<&Through> {
        match self {
            Self::Server(server) => Ok(server),
            Self::Here(..) => anyhow::bail!(
                "no Gangway runs on this data folder, so no page asks anything; start one: gangway serve"
            ),
        }
    }

    pub(super) async fn list(&self) -> anyhow::Result<PermissionList> {
        match self {
            Self::Server(server) => server.get("/api/permissions").await,
            Self::Here(permissions, _) => Ok(permissions.list()),
        }
    }

    pub(super) async fn set(&self, wanted: SetPermissions) -> anyhow::Result<OriginPermissions> {
        match self {
            Self::Server(server) => server.patch("/api/permissions", &wanted).await,
            Self::Here(permissions, _) => {
                let settings = Settings {
                    scopes: wanted.scopes.unwrap_or_default(),
                    tools: wanted.allowed_tools,
                    servers: wanted.servers,
                    duration: wanted.duration.unwrap_or_default(),
                };
                let origin = wanted.origin;
                permissions.set(&origin, settings, By::Terminal).await?;
                permissions.flush().await;
                Ok(permissions.entry(&origin))
            }
        }
    }

    /// Forgets an origin, or all of them.
    pub(super) async fn forget(&self, origin: Option<&Origin>) -> anyhow::Result<()> {
        match (self, origin) {
            (Self::Server(server), None) => server.delete("/api/permissions").await?,
            (Self::Server(server), Some(origin)) => {
                let origin = encoded(origin.as_str());
                let path = format!("/api/permissions?origin={origin}");
                server.delete(&path).await?;
            }
            (Self::Here(permissions, _), origin) => {
                match origin {
                    Some(origin) => permissions.forget(origin, By::Terminal).await?,
                    None => permissions.forget_all(By::Terminal).await?,
                }
                permissions.flush().await;
            }
        }
        Ok(())
    }

    pub(super) async fn log(
        &self,
        origin: Option<&Origin>,
        limit: usize,
    ) -> anyhow::Result<AuditPage> {
        match self {
            Self::Server(server) => {
                let of = origin.map(|origin| format!("&origin={}", encoded(origin.as_str())));
                let of = of.unwrap_or_default();
                let path = format!("/api/permissions/audit?limit={limit}{of}");
                server.get(&path).await
            }
            Self::Here(permissions, _) => Ok(permissions.log(origin, None, limit).await?),
        }
    }
}
