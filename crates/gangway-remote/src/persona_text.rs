//! The texts of personas, `skill.md` and `experience.md`, as edited in the browser.

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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonaTexts {
    /// Abilities and behavior.
    pub skill: String,
    /// Background, if any.
    pub experience: Option<String>,
}

impl PersonaTexts {
    /// Identifies these texts, so that concurrent changes are not overwritten.
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
                    "`{name}` must be at most {TEXT_BYTES} bytes, but has {has}"
                )));
            }
        }
        Ok(())
    }
}

impl Registry {
    /// Whether the folder of a persona was created by Gangway.
    #[must_use]
    pub fn is_own(&self, persona: &PersonaConfig) -> bool {
        persona.folder.parent() == Some(self.home.as_path())
    }

    /// A missing file counts as empty.
    pub async fn texts(&self, slug: &str) -> Result<(PersonaConfig, PersonaTexts), RegistryError> {
        let persona = self.persona(slug).await?;
        let persona = persona.ok_or_else(|| RegistryError::Missing(format!("persona {slug:?}")))?;
        let texts = read_texts(&persona.folder)?;
        Ok((persona, texts))
    }

    /// Writes the texts of a persona at this version, or creates one if there is no version. Returns the new version.
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
                let message = format!("persona {slug:?} already exists; choose another slug");
                return Err(RegistryError::Changed(message));
            }
            (None, Some(_)) => return Err(RegistryError::Missing(format!("persona {slug:?}"))),
            (Some(persona), Some(version)) => {
                if read_texts(&persona.folder)?.version() != version {
                    let message = format!(
                        "persona {slug:?} was changed meanwhile; reload it and repeat your change"
                    );
                    return Err(RegistryError::Changed(message));
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

    /// Removes the folder of a persona that was created here.
    pub(super) fn remove_texts(&self, folder: &Path) {
        if let Err(error) = std::fs::remove_dir_all(folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "cannot remove the texts of a persona");
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

/// Atomic write; `None` removes the file.
fn write(path: &Path, text: Option<&str>) -> Result<(), RegistryError> {
    let failed = |error| unwritten(path, error);
    let Some(text) = text else {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    };
    // Follow a link, as an editor does.
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
    RegistryError::Wrong(format!("cannot write {shown}: {error}"))
}
