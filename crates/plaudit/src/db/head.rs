//! The head of an account: the row that serialises its writes.

use super::{AccountId, Committed, DbError, Tx};

/// Where an account's program and change log stand. Whoever holds it in a transaction is the account's only writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The version of the account's set-up.
    pub version: i64,
    /// The sequence number of the account's last change; 0 before the first.
    pub sequence: i64,
    /// The hash of the account's last change.
    pub hash: [u8; 32],
    /// Whether the row has to be written before the commit.
    pub changed: bool,
}

impl Tx {
    /// The account's head, locked until the end of the transaction. `None` where there is no such account.
    pub async fn head(&mut self, account: AccountId) -> Result<Option<&mut Head>, DbError> {
        if !self.heads.contains_key(&account) {
            let head = self
                .first_for_update(
                    "SELECT version, sequence, hash FROM accounts WHERE id = $1",
                    &[account.into()],
                    |row| {
                        Ok(Head {
                            version: row.integer(0)?,
                            sequence: row.integer(1)?,
                            hash: row.bytes(2)?.try_into().map_err(|_| {
                                DbError::Failed("the hash of an account's last change has not 32 bytes".to_owned())
                            })?,
                            changed: false,
                        })
                    },
                )
                .await?;
            let Some(head) = head else { return Ok(None) };
            self.undo.push((account, None));
            self.heads.insert(account, head);
        } else if let Some(head) = self.heads.get(&account) {
            self.undo.push((account, Some(*head)));
        }
        Ok(self.heads.get_mut(&account))
    }

    /// Puts the heads back to where they were before the current savepoint. A head that was read in it is forgotten,
    /// because the row lock goes with the savepoint.
    pub(super) fn undo_heads(&mut self) {
        while let Some((account, before)) = self.undo.pop() {
            match before {
                Some(head) => self.heads.insert(account, head),
                None => self.heads.remove(&account),
            };
        }
    }

    /// Writes the heads that changed; the last thing before the commit.
    pub(super) async fn write_heads(&mut self) -> Result<(), DbError> {
        let heads = std::mem::take(&mut self.heads);
        for (account, head) in heads.iter().filter(|(_, head)| head.changed) {
            self.later(
                "UPDATE accounts SET version = $2, sequence = $3, hash = $4 WHERE id = $1",
                vec![(*account).into(), head.version.into(), head.sequence.into(), head.hash.to_vec().into()],
            )
            .await?;
            self.written.push((*account, Committed { version: head.version, sequence: head.sequence }));
        }
        self.flush().await
    }
}
