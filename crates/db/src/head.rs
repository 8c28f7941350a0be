//! The head of an account: the row that serialises its writes.

use super::{AccountId, Committed, DbError, Tx, hash_of_change};

/// Where an account's program and change log stand. Whoever holds it in a transaction is the account's only writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The name of the last change of what the account's program shows.
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
                            hash: hash_of_change(row.bytes(2)?)?,
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

    /// The account's head where this transaction holds it, with what it changed already.
    pub fn held_head(&self, account: AccountId) -> Option<Head> {
        self.heads.get(&account).copied()
    }

    /// Puts the heads back to where they were before the current write. A head that was read in it is forgotten, because the row
    /// lock goes with a savepoint.
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
            self.enqueue(
                "UPDATE accounts SET version = $2, sequence = $3, hash = $4 WHERE id = $1",
                vec![(*account).into(), head.version.into(), head.sequence.into(), head.hash.to_vec().into()],
            )
            .await?;
            let Head { version, sequence, hash, .. } = *head;
            self.written.push((*account, Committed { version, sequence, hash }));
        }
        Ok(())
    }
}
