//! Placeholders such as `${secret:NAME}` in settings.

/// A placeholder of a secret that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret {0} is not set; set it with: gangway secrets set {0}")]
pub struct MissingSecret(pub String);

/// Replaces each placeholder with its secret; `secret` looks up secrets by name.
pub fn fill_placeholders(
    text: &str,
    mut secret: impl FnMut(&str) -> Option<String>,
) -> Result<String, MissingSecret> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${secret:") {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        let value = secret(name);
        filled.push_str(&value.ok_or_else(|| MissingSecret(name.chars().take(64).collect()))?);
        rest = behind;
    }
    Ok(filled + rest)
}
