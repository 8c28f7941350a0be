//! Assigning: how judges are linked with entries, one by one and by jobs.
//!
//! - What must hold is asked before anything is written: the score set is not archived and of a season that is active
//!   or being set up; the rounds are judging rounds of its form; the entries are of its form; whoever judges has a
//!   judging role ([`rules`]).
//! - A judge who was taken off an entry, or has a conflict of interest with it of any kind, is not linked with it ([`facts`]).
//! - A link that is there is changed and never doubled; one in the trash, or one that had lost its cause, is restored with its
//!   sheet ([`link::write`]).
//! - A job links each entry with each judge, a bounded number in each step; what cannot be linked is told, and a pair that was
//!   linked before does no harm. Another one takes a judge off all open sheets of a score set and gives these to others.
//! - What panels assign follows the change log ([`panels`]).
//! - Before a round ends, judges with open sheets are reminded where the round says so ([`reminders`]).
//! - A plan is made, applied and undone at once ([`planning`]).

pub mod facts;
pub mod link;
pub mod linking;
pub mod panels;
pub mod planning;
pub mod reassigning;
pub mod reminders;
pub mod rules;
