//! How the tests make documents: `cargo xtask test` builds the typesetter and says where it is.

use std::time::Duration;

use plaudit::typesetter::Settings;

/// Where it is built unless something else is said.
const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/typeset/release/plaudit-typeset");

/// The settings of a deployment.
#[allow(clippy::disallowed_methods)]
pub(super) fn settings() -> Settings {
    let program = std::env::var_os("PLAUDIT_TEST_TYPESETTER").map_or_else(|| BUILT.into(), Into::into);
    Settings { program: Some(program), together: 2, patience: Duration::from_mins(1), memory_bytes: 1 << 30 }
}
