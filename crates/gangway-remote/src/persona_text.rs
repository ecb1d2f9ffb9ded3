//! The texts of personas, `skill.md` and `experience.md`, as they are read and written in the browser.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangway_core::secret::hash;
use gangway_files::make_private_folder;

use super::{
    Registry, RegistryError,
    registry::{TEXT_BYTES, check_slug},
};
use crate::config::PersonaConfig;

/// The texts of a persona.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonaTexts {
    /// What it can do and how it behaves.
    pub skill: String,
    /// What it has lived through, if it has.
    pub experience: Option<String>,
}

impl PersonaTexts {
    /// Names exactly these texts, so that nobody overwrites what they have not seen.
    #[must_use]
    pub fn version(&self) -> String {
        let both = format!("{:?}", (&self.skill, &self.experience));
        hash(&both)[..16].to_owned()
    }

    fn check(&self) -> Result<(), RegistryError> {
        let experience = self.experience.as_deref().unwrap_or_default();
        for (name, text) in [("skill", self.skill.as_str()), ("experience", experience)] {
            if text.len() as u64 > TEXT_BYTES {
                let has = text.len();
                return Err(RegistryError::Wrong(format!(
                    "`{name}` may have at most {TEXT_BYTES} bytes, and has {has}; shorten it"
                )));
            }
        }
        Ok(())
    }
}

impl Registry {
    /// Whether the folder of a persona is one that was made here for it.
    #[must_use]
    pub fn is_own(&self, persona: &PersonaConfig) -> bool {
        persona.folder.parent() == Some(self.home.as_path())
    }

    /// The texts of a persona; a file that is not there is empty.
    pub async fn texts(&self, slug: &str) -> Result<(PersonaConfig, PersonaTexts), RegistryError> {
        let persona = self.persona(slug).await?;
        let persona = persona.ok_or_else(|| RegistryError::Missing(format!("persona {slug:?}")))?;
        let texts = read_texts(&persona.folder)?;
        Ok((persona, texts))
    }

    /// Writes the texts of a persona that is known by this version, or of a new one where none is named. Gives back the
    /// new version.
    pub async fn write_texts(
        &self,
        slug: &str,
        mut texts: PersonaTexts,
        version: Option<&str>,
    ) -> Result<String, RegistryError> {
        if self.is_in_config(slug) {
            return Err(RegistryError::InConfig(slug.to_owned()));
        }
        check_slug(slug)?;
        texts.experience = texts.experience.filter(|text| !text.trim().is_empty());
        texts.check()?;
        let _alone = self.writing.lock().await;
        let folder = match (self.persona(slug).await?, version) {
            (Some(_), None) => {
                let words = format!("there is a persona {slug:?} already; choose another slug");
                return Err(RegistryError::Changed(words));
            }
            (None, Some(_)) => return Err(RegistryError::Missing(format!("persona {slug:?}"))),
            (Some(persona), Some(version)) => {
                if read_texts(&persona.folder)?.version() != version {
                    let words = format!(
                        "the persona {slug:?} was changed meanwhile; load it again and repeat your change"
                    );
                    return Err(RegistryError::Changed(words));
                }
                persona.folder
            }
            (None, None) => {
                let folder = self.home.join(slug);
                make_private_folder(&self.home).map_err(|error| unwritten(&self.home, error))?;
                make_private_folder(&folder).map_err(|error| unwritten(&folder, error))?;
                folder
            }
        };
        write(&folder.join("skill.md"), Some(&texts.skill))?;
        write(&folder.join("experience.md"), texts.experience.as_deref())?;
        if version.is_none() {
            let active = true;
            self.add_persona(slug, &PersonaConfig { folder, active })
                .await?;
        }
        Ok(texts.version())
    }

    /// Removes the folder of a persona that was written here.
    pub(super) fn remove_texts(&self, folder: &Path) {
        if let Err(error) = std::fs::remove_dir_all(folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "the texts of a persona could not be removed");
        }
    }
}

fn read_texts(folder: &Path) -> Result<PersonaTexts, RegistryError> {
    let read = |name: &str| {
        let path = folder.join(name);
        match path.try_exists() {
            Ok(false) => Ok(None),
            _ => super::registry::read_text(&path)
                .map(Some)
                .map_err(|error| RegistryError::Wrong(error.to_string())),
        }
    };
    Ok(PersonaTexts {
        skill: read("skill.md")?.unwrap_or_default(),
        experience: read("experience.md")?,
    })
}

/// Writes a file at once or not at all; `None` removes it.
fn write(path: &Path, text: Option<&str>) -> Result<(), RegistryError> {
    let failed = |error| unwritten(path, error);
    let Some(text) = text else {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    };
    // Where a link leads, as an editor writes it.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    if let Ok(known) = std::fs::metadata(&path) {
        let _ = file.as_file().set_permissions(known.permissions());
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn unwritten(path: &Path, error: io::Error) -> RegistryError {
    let shown = path.display();
    RegistryError::Wrong(format!("{shown} cannot be written: {error}"))
}
