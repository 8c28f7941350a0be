//! Pure rules of what a decision does to an entry.

use crate::program::review_stages::{Decision, OnProceed, OnStop, ReviewStage, Timing};
use crate::records::entries::{Entry, Moderation, Status};

/// Whether stages of this timing begin by themselves while an entry has a status.
pub(super) fn is_time_of(timing: Timing, status: Status) -> bool {
    match timing {
        Timing::BeforeSubmission => status == Status::InProgress,
        Timing::AfterSubmission => matches!(status, Status::Submitted | Status::Resubmitted),
    }
}

/// Makes an entry what a decision of a stage does of it. A status changes where there is such a step on the way of the entry.
pub(super) fn apply(stage: &ReviewStage, decision: Decision, entry: &mut Entry) {
    let (moderation, step) = match (stage.timing, decision) {
        (Timing::BeforeSubmission, Decision::Proceed) => (None, None),
        (Timing::BeforeSubmission, Decision::Stop) => {
            (None, Some((Status::InProgress, Status::NotApprovedForSubmission)))
        }
        (Timing::AfterSubmission, Decision::Proceed) => match stage.on_proceed {
            OnProceed::Nothing => (None, None),
            OnProceed::Approved => (Some(Moderation::Approved), None),
        },
        (Timing::AfterSubmission, Decision::Stop) => match stage.on_stop {
            OnStop::Nothing => (None, None),
            OnStop::Rejected => (Some(Moderation::Rejected), None),
            OnStop::ResubmissionRequired => (None, Some((Status::Submitted, Status::ResubmissionRequired))),
        },
    };
    entry.moderation_status = moderation.unwrap_or(entry.moderation_status);
    if let Some((from, to)) = step
        && entry.status == from
    {
        entry.status = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::read;

    const SAMPLE: &str = concat!(
        r#"{"slug":"EntryAAA","local_id":7,"title":"W","status":"submitted","created":"1970-01-01T00:00:01.000000Z","#,
        r#""submitted":null,"updated":"1970-01-01T00:00:03.000000Z","#,
        "\"entrant\":\"\u{7f}eUserAAAA\",\"auto_score\":0,\"category\":\"\u{7f}rcCategAAA\",",
        "\"chapter\":\"\u{7f}rhChapteAA\",\"form\":\"\u{7f}rfFormAAAA\",\"season\":\"\u{7f}rsSeasonAA\",",
        r#""comments":"","user_comments":"","custom_deadline":"-","division":null,"eligibility_status":"","#,
        r#""moderation_status":"undecided","payment_status":"Paid","plagiarism_scan_status":"unscanned","#,
        r#""review_status":"","grant_status":null,"grant_end_date":null,"tags":""}"#,
    );

    fn stage(timing: &str, more: &str) -> ReviewStage {
        let members = format!(
            r#""season":"SeasonAA","form":"FormAAAA","name":{{"en_GB":"S"}},"timing":"{timing}","reviewer_kinds":["entrant"]{more}"#
        );
        read("StageAAA", &members).unwrap()
    }

    fn after(stage: &ReviewStage, decision: Decision, status: Status) -> (Status, Moderation) {
        let mut entry = Entry { status, ..Entry::of_document(SAMPLE).unwrap() };
        apply(stage, decision, &mut entry);
        (entry.status, entry.moderation_status)
    }

    #[test]
    fn before_the_submission_a_stop_is_not_approved_for_submission() {
        let stage = stage("before_submission", "");
        let undecided = |status| (status, Moderation::Undecided);
        assert_eq!(after(&stage, Decision::Proceed, Status::InProgress), undecided(Status::InProgress));
        assert_eq!(after(&stage, Decision::Stop, Status::InProgress), undecided(Status::NotApprovedForSubmission));
        assert_eq!(after(&stage, Decision::Stop, Status::Submitted), undecided(Status::Submitted));
    }

    #[test]
    fn after_the_submission_the_stage_says_what_a_decision_does() {
        use Decision::{Proceed, Stop};
        let submitted = |moderation| (Status::Submitted, moderation);
        let nothing = stage("after_submission", "");
        assert_eq!(after(&nothing, Proceed, Status::Submitted), submitted(Moderation::Undecided));
        assert_eq!(after(&nothing, Stop, Status::Submitted), submitted(Moderation::Undecided));
        let moderates = stage("after_submission", r#","on_proceed":"approved","on_stop":"rejected""#);
        assert_eq!(after(&moderates, Proceed, Status::Submitted), submitted(Moderation::Approved));
        assert_eq!(after(&moderates, Stop, Status::Submitted), submitted(Moderation::Rejected));
        let returns = stage("after_submission", r#","on_stop":"resubmission_required""#);
        for (status, then) in [
            (Status::Submitted, Status::ResubmissionRequired),
            (Status::Resubmitted, Status::Resubmitted),
            (Status::InProgress, Status::InProgress),
        ] {
            assert_eq!(after(&returns, Stop, status), (then, Moderation::Undecided));
        }
    }
}
