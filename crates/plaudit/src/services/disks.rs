//! Disks that a write found full. A node goes on reading meanwhile, and tries itself whether there is room again.

use std::sync::atomic::{AtomicBool, Ordering};

/// What has a disk; the text is what follows "the disk of".
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
pub enum Disk {
    /// The database.
    #[strum(to_string = "the database")]
    Database,
    /// The stored files.
    #[strum(to_string = "the stored files")]
    Files,
}

/// The disks that are full, as far as this node knows.
#[derive(Debug, Default)]
pub struct FullDisks([AtomicBool; 2]);

impl FullDisks {
    /// Notes whether a disk is full.
    pub fn set(&self, disk: Disk, is_full: bool) {
        self.0[disk as usize].store(is_full, Ordering::Relaxed);
    }

    /// Whether a disk is full.
    pub fn contains(&self, disk: Disk) -> bool {
        self.0[disk as usize].load(Ordering::Relaxed)
    }
}
