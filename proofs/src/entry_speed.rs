//! `entry-speed`: what it costs to read entries.

use anyhow::Result;

use super::{Context, Proof, Verdict, speed};

/// The claim and how it is shown.
pub(crate) const PROOF: Proof = Proof {
    name: "entry-speed",
    claim: "An entry is read at 0.40 of the rate at which its bytes can be sent at all, a page with all that belongs to \
            its entries costs a byte what a page of orders does, the last page of every list what the first one does, and \
            no read takes more statements where there is more.",
    run,
};

fn run(context: &Context) -> Result<Verdict> {
    speed::shown(context, &["--only", "entry-"])
}
