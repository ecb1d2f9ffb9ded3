//! Signatures of values that a browser sends back.

use gangway_core::{
    Result,
    store::{Expect, Put, Store},
};
use subtle::ConstantTimeEq;

use gangway_core::secret::new_secret;

const RECORD: &str = "signing-key";

/// Signs with a key that is created once per data folder.
pub struct Signer([u8; 32]);

impl Signer {
    /// Loads or creates the key of this data folder.
    pub async fn load(store: &Store) -> Result<Self> {
        if let Some(found) = store.get::<String>(RECORD).await? {
            return Ok(Self::from(&found.value));
        }
        let key = new_secret();
        let put = Put::new(RECORD, &key, Expect::Absent)?;
        let commit = store.put(vec![put]).await?;
        store.keep(commit).await?;
        Ok(Self::from(&key))
    }

    fn from(secret: &str) -> Self {
        Self(*blake3::hash(secret.as_bytes()).as_bytes())
    }

    /// Signs a value for a purpose; a signature for one purpose is not valid for another.
    #[must_use]
    pub fn sign(&self, purpose: &str, what: &str) -> String {
        let text = format!("{purpose}\0{what}");
        let mac = blake3::keyed_hash(&self.0, text.as_bytes());
        mac.to_hex()[..32].to_owned()
    }

    #[must_use]
    pub fn fits(&self, purpose: &str, what: &str, signature: &str) -> bool {
        let right = self.sign(purpose, what);
        bool::from(right.as_bytes().ct_eq(signature.as_bytes()))
    }
}
