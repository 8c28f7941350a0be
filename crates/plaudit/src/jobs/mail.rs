//! The job `mail`: a message to each of its addresses, in a step of its own.
//!
//! An address that is refused for good is an error of the job. While one cannot be reached the others are, and the job is begun
//! again for it alone. Nobody learns who else is written to.

use std::collections::BTreeSet;

use super::{JobError, Run, Step, Work};
use crate::mail::{MailError, Message};
use db::{BoxFuture, Tx};

/// The job that sends a message, which is its input ([`Message::to_json`]).
pub const WORK: Work = Work { kind: "mail", run: |run| Box::pin(send(run)) };

/// What is told of a mail server that takes nothing now: what it says is the operator's affair.
const NOT_NOW: &str = "The message cannot be sent at present.";

async fn send(run: &mut Run) -> Result<(), JobError> {
    let broken = |_| JobError::Failed("The input of the job cannot be read.".to_owned());
    let message: Message = serde_json::from_str(&run.input).map_err(broken)?;
    let mut open: BTreeSet<usize> = match run.checkpoint() {
        "" => (0..message.to.len()).collect(),
        checkpoint => serde_json::from_str(checkpoint).map_err(broken)?,
    };
    let mut outcome = Ok(());
    for place in open.clone() {
        let Some(address) = message.to.get(place) else { continue };
        let (id, own) = (format!("{}-{place}", run.job()), Message { to: vec![address.clone()], ..message.clone() });
        let sent = run.app.settings.mail.send(&id, &own, run.app.clock.now()).await;
        if let Err(error) = &sent
            && error.is_temporary()
        {
            tracing::warn!(%error, account = run.account().0, job = %run.job(), "a message could not be sent");
            outcome = Err(JobError::Failed(NOT_NOW.to_owned()));
            continue;
        }
        open.remove(&place);
        let ended = Ended {
            address: address.clone(),
            sent,
            total: message.to.len(),
            open: serde_json::json!(open).to_string(),
        };
        run.step(ended, tell).await?;
    }
    outcome
}

/// What became of an address, and which are left.
struct Ended {
    address: String,
    sent: Result<(), MailError>,
    total: usize,
    open: String,
}

fn tell<'a>(_: &'a mut Tx, ended: &'a Ended, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        step.checkpoint.clone_from(&ended.open);
        step.report.progress.total = i64::try_from(ended.total).ok();
        match &ended.sent {
            Ok(()) => step.report.done(1),
            Err(error) => step.report.failed(&ended.address, &error.to_string()),
        }
        Ok(())
    })
}
