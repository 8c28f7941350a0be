//! The job `mail`: a message to each of its addresses, in a step of its own.
//!
//! An address that is refused for good is an error of the job, which tells its place, from 1, and neither the address nor what
//! the server says. While one is refused for now the others are written to, and the job is begun again for it alone. Where the
//! server takes nothing, the run ends at once. Nobody learns who else is written to.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{JobError, Patience, Run, Step, Work, store};
use crate::log::Origin;
use crate::mail::{MailError, Message};
use db::{AccountId, BoxFuture, DbError, Tx};
use kernel::ids::Ids;
use kernel::text::Timestamp;

/// The job that sends a message, which is its input ([`Message::to_json`]).
pub const WORK: Work = Work { kind: "mail", patience: Patience::DAY, run: |run| Box::pin(send(run)) };

/// What is told of a mail server that takes nothing now: what it says is the operator's affair.
const NOT_NOW: &str = "The message cannot be sent at present.";
/// What is told of an address that is refused for good.
const REFUSED: &str = "The message could not be sent to this address.";

/// The most notices of an account in a day of what its users do.
pub const MOST_NOTICES: i64 = 20;

/// A message that nobody has asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Notice {
    /// The message.
    #[serde(flatten)]
    pub message: Message,
    /// What it is about, in letters, digits, low lines and colons: there is one notice a day about the same.
    pub about: String,
}

/// Has a notice sent, unless one about the same was added within a day, or the account has had so many. The jobs themselves
/// are what is counted, so that nothing that is done to what they are about begins the day anew.
pub async fn notify(
    tx: &mut Tx,
    account: AccountId,
    (notice, most): (&Notice, i64),
    origin: &Origin,
    ids: &Ids,
) -> Result<(), DbError> {
    let since = Timestamp::from_seconds(origin.at.as_seconds().saturating_sub(24 * 60 * 60));
    let (all, same) = store::notices(tx, account, &notice.about, since).await?;
    if same == 0 && all < most {
        super::add(tx, account, (WORK.kind, serde_json::json!(notice).to_string()), origin, ids).await?;
    }
    Ok(())
}

async fn send(run: &mut Run) -> Result<(), JobError> {
    let broken = |_| JobError::Failed("The input of the job cannot be read.".to_owned());
    let message: Message = serde_json::from_str(&run.input).map_err(broken)?;
    let mut open: BTreeSet<usize> = match run.checkpoint() {
        "" => (0..message.to.len()).collect(),
        checkpoint => serde_json::from_str(checkpoint).map_err(broken)?,
    };
    let mut outcome = Ok(());
    for place in open.clone() {
        // Who was erased meanwhile has left a place without an address.
        let Some(address) = message.to.get(place).filter(|address| !address.is_empty()) else {
            open.remove(&place);
            continue;
        };
        let (id, own) = (format!("{}-{place}", run.job()), Message { to: vec![address.clone()], ..message.clone() });
        let sent = run.app.settings.mail.send(&id, &own, run.app.clock.now()).await;
        if let Err(error) = &sent {
            tracing::warn!(%error, place, "a message could not be sent");
            if error.is_temporary() {
                outcome = Err(JobError::Failed(NOT_NOW.to_owned()));
                // Each other address would wait as long, and other accounts' jobs with it.
                if matches!(error, MailError::Unavailable(_)) {
                    break;
                }
                continue;
            }
        }
        open.remove(&place);
        let ended =
            Ended { place, is_sent: sent.is_ok(), total: message.to.len(), open: serde_json::json!(open).to_string() };
        run.step(ended, tell).await?;
    }
    outcome
}

/// What became of an address, and which are left.
struct Ended {
    place: usize,
    is_sent: bool,
    total: usize,
    open: String,
}

fn tell<'a>(_: &'a mut Tx, ended: &'a Ended, step: &'a mut Step) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        step.checkpoint.clone_from(&ended.open);
        step.report.progress.total = i64::try_from(ended.total).ok();
        if ended.is_sent {
            step.report.done(1);
        } else {
            step.report.failed(&(ended.place + 1).to_string(), REFUSED);
        }
        Ok(())
    })
}
