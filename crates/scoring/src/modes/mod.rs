//! The modes of a score set that are not elections: `vip_judging`, `qualifying` and `voting`. `top_pick` is in
//! [`crate::elections`].

pub mod mailbox;
pub mod qualifying;
pub mod scored;
pub mod voting;
