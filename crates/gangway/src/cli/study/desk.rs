//! Where study sessions are looked at: at the running Gangway, or here on the folder.

use std::{fs::File, io::Write};

use gangway_core::Store;
use gangway_relay::{
    StudyId,
    study::{Lines, Studies, StudyEvents, StudyList, StudySummary, write_csv},
};
use serde::Serialize;

use super::super::{
    Common,
    through::{Place, Through},
};
use crate::data::DataFolder;
use gangway_client::DataFolder;
use gangway_relay::{
    StudyId,
    study::{Lines, Studies, StudyEvents, StudyList, StudySummary, write_csv},
};

/// What a study session is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
pub(super) enum Format {
    /// The log as it is
    Jsonl,
    /// A table for a program of statistics
    Csv,
}

/// Where to ask.
pub(super) enum Desk {
    /// At a server.
    Server(Through),
    /// Here; nobody else may have the folder meanwhile.
    Here(
        Box<Studies>,
        #[allow(dead_code, reason = "held, not read")] DataFolder,
    ),
}

impl Desk {
    pub(super) fn open(common: &Common) -> anyhow::Result<Self> {
        Ok(match Place::find(&common.data()?)? {
            Place::Server(server) => Self::Server(server),
            Place::Folder(folder) => {
                let store = Store::open(folder.path())?;
                Self::Here(Box::new(Studies::new(folder.path(), store)), folder)
            }
        })
    }

    pub(super) async fn list(&self) -> anyhow::Result<StudyList> {
        match self {
            Self::Server(server) => server.get("/api/study").await,
            Self::Here(studies, _) => Ok(studies.entries(|_, _| None).await?),
        }
    }

    pub(super) async fn summary(&self, id: &StudyId) -> anyhow::Result<StudySummary> {
        match self {
            Self::Server(server) => server.get(&format!("/api/study/{id}/summary")).await,
            Self::Here(studies, _) => Ok(StudySummary::of(Lines::open(&studies.log_path(id))?)?),
        }
    }

    /// Some events after a number.
    pub(super) async fn events(&self, id: &StudyId, after: u64) -> anyhow::Result<StudyEvents> {
        match self {
            Self::Server(server) => {
                let path = format!("/api/study/{id}/events?after={after}");
                server.get(&path).await
            }
            Self::Here(studies, _) => {
                Ok(Lines::open(&studies.log_path(id))?.page(after, usize::MAX)?)
            }
        }
    }

    /// Writes all of it.
    pub(super) async fn export(
        &self,
        id: &StudyId,
        format: Format,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        match (self, format) {
            (Self::Server(server), format) => {
                let ending = match format {
                    Format::Jsonl => "jsonl",
                    Format::Csv => "csv",
                };
                let path = format!("/api/study/{id}/{ending}");
                server.download(&path, |bytes| out.write_all(bytes)).await?;
            }
            (Self::Here(studies, _), Format::Csv) => {
                write_csv(Lines::open(&studies.log_path(id))?, out)?;
            }
            (Self::Here(studies, _), Format::Jsonl) => {
                std::io::copy(&mut File::open(studies.log_path(id))?, out)?;
            }
        }
        out.flush()?;
        Ok(())
    }
}
