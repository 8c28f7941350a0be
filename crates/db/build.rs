//! The steps of the schema are part of this crate: a new one builds it again.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
