//! Builds again when the pages change, since they are part of the binary.
#![allow(
    clippy::print_stdout,
    reason = "this is how a build script speaks to cargo"
)]

fn main() {
    println!("cargo:rerun-if-changed=../../web/ui/dist");
}
