//! What Gangway promises about safety, each promise as a test: a small run always, the full one with `GANGWAY_FULL=1`.
