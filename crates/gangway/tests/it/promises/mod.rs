//! What Gangway promises about safety, each promise as a test: a small run always, the full one with `GANGWAY_FULL=1`.

mod cases;
mod feed;
mod junk;
mod planted;
mod process;
mod raw;
mod town;
mod wire;

mod p01_resume;
mod p02_gap;
mod p03_order;
mod p04_once;
mod p05_kept;
mod p05_synced;
mod p06_epoch;
mod p07_damage;
mod p08_stalled;
mod p09_rfc6455;
mod p10_junk;
mod p11_decoders;
mod p12_channel;
mod p12_limits;
mod p14_origin;
mod p15_csrf;
mod p17_ssrf;
mod p18_secrets;
mod p23_framing;
mod p24_mcp;

pub use process::Vitals;
use rand::{SeedableRng, rngs::StdRng};

/// What to run: the small number always, the full one when the whole promise is to be checked.
pub fn scale<T>(small: T, full: T) -> T {
    if std::env::var_os("GANGWAY_FULL").is_some() {
        full
    } else {
        small
    }
}

/// Chance that is the same in every run.
fn chance(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}
