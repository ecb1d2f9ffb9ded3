//! An npm that does what a test wants.

use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

/// A folder with an npm that does this in the folder of a package.
pub fn npm_that(does: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 11.0.0 && exit 0\n{does}\n");
    for name in ["npm", "npx"] {
        let file = folder.path().join(name);
        std::fs::write(&file, &script).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder
}

/// What an npm does that brings a package `fake` whose program is this script.
pub fn brings(program: &str) -> String {
    format!(
        "mkdir -p node_modules/.bin node_modules/fake
printf '{{\"name\":\"fake\",\"version\":\"1.0.0\",\"bin\":\"run\"}}' > node_modules/fake/package.json
cat > node_modules/fake/run <<'END'
#!/bin/sh
{program}
END
chmod +x node_modules/fake/run
ln -s ../fake/run node_modules/.bin/fake"
    )
}
