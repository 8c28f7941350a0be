//! `qualifying`: judges say pass, fail or unsure.
//!
//! - Who is unsure does not count as a response.
//! - With fewer responses than needed the entry is undecided, and so is one without any.
//! - The entry passes when its share of passes reaches the share that is asked for. The comparison is inclusive and in
//!   integers: `100 x pass >= share x responses`.

/// A judge's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The entry should go on.
    Pass,
    /// It should not.
    Fail,
    /// The judge cannot tell; counts as no response.
    Unsure,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It qualifies.
    Pass,
    /// It does not qualify.
    Fail,
    /// There are too few responses.
    Undecided,
}

/// The counted decisions about an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// How many say pass.
    pub pass: u32,
    /// How many say fail.
    pub fail: u32,
    /// How many are unsure.
    pub unsure: u32,
}

/// What a score set asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How many responses are needed.
    pub responses_needed: u32,
    /// The share of passes that qualifies, in per cent.
    pub pass_percent: u32,
}

impl FromIterator<Decision> for Decisions {
    fn from_iter<I: IntoIterator<Item = Decision>>(decisions: I) -> Self {
        let mut counts = Self::default();
        for decision in decisions {
            *match decision {
                Decision::Pass => &mut counts.pass,
                Decision::Fail => &mut counts.fail,
                Decision::Unsure => &mut counts.unsure,
            } += 1;
        }
        counts
    }
}

impl Rules {
    /// What becomes of an entry with these decisions.
    pub fn outcome(self, decisions: Decisions) -> Outcome {
        let pass = u64::from(decisions.pass);
        let responses = pass + u64::from(decisions.fail);
        if responses == 0 || responses < u64::from(self.responses_needed) {
            Outcome::Undecided
        } else if 100 * pass >= u64::from(self.pass_percent) * responses {
            Outcome::Pass
        } else {
            Outcome::Fail
        }
    }
}
