//! Which roles have which operations: the one table.
//!
//! - Program managers have every operation, and auditors every one that reads; a line names the other roles. So a new
//!   operation is a line here, and one that is left out is refused to every person.
//! - What of the records of an operation a person sees is said by [`super::Access`].

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use RoleType::{Bookkeeper, ChapterManager, Entrant, Guest, Judge, LeadJudge, Voter};

use crate::program::roles::RoleType;

/// An operation, as a line of the table has it.
#[derive(Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its identifier.
    pub id: &'static str,
    /// Its method, a blank and its path with the names of its parameters.
    pub route: &'static str,
    /// The roles that have it beside program managers, and auditors where it reads.
    roles: &'static [RoleType],
}

/// Every role but that of program managers and auditors.
const EVERYBODY: &[RoleType] = &[ChapterManager, Entrant, Judge, LeadJudge, Voter, Guest, Bookkeeper];
/// Who enters, judges or sees to it.
const PARTICIPANTS: &[RoleType] = &[ChapterManager, Entrant, Judge, LeadJudge, Voter];
/// Who sees entries whole or as their applicant.
const ENTRY: &[RoleType] = &[ChapterManager, Entrant];
/// Who sees what is paid.
const PAYMENT: &[RoleType] = &[ChapterManager, Entrant, Bookkeeper];
/// Who makes orders.
const ORDERING: &[RoleType] = &[Entrant, Bookkeeper];
/// Who sees to payments.
const BOOKKEEPING: &[RoleType] = &[Bookkeeper];
const CHAPTER: &[RoleType] = &[ChapterManager];
/// Who sees assignments: of chapters, or as a judge.
const JUDGED: &[RoleType] = &[ChapterManager, Judge, LeadJudge, Voter];
/// Who sees to it that is judged, in chapters or in score sets.
const LEADING: &[RoleType] = &[ChapterManager, LeadJudge];
const NOBODY: &[RoleType] = &[];

const fn line(id: &'static str, route: &'static str, roles: &'static [RoleType]) -> Operation {
    Operation { id, route, roles }
}

/// Every operation of the interface, by its identifier.
pub const OPERATIONS: &[Operation] = &[
    line("DeleteAssignmentV23", "DELETE /assignment/{slug}", CHAPTER),
    line("DeleteAttachmentV23", "DELETE /attachment/{token}", ENTRY),
    line("DeleteCategoryV23", "DELETE /category/{slug}", NOBODY),
    line("DeleteChapterV23", "DELETE /chapter/{slug}", NOBODY),
    line("DeleteContributorV23", "DELETE /contributor/{slug}", ENTRY),
    line("DeleteDocumentV23", "DELETE /document/{slug}", CHAPTER),
    line("DeleteEntryTagV23", "DELETE /entry/{slug}/tag/{tags}", CHAPTER),
    line("DeleteEntryV23", "DELETE /entry/{slug}", CHAPTER),
    line("DeleteFieldV23", "DELETE /field/{slug}", NOBODY),
    line("DeleteJobV23", "DELETE /job/{slug}", NOBODY),
    line("DeleteLeaderboardCastingVoteV23", "DELETE /leaderboard/casting-vote", NOBODY),
    line("DeleteLeaderboardPublicationV23", "DELETE /leaderboard/publication/{slug}", NOBODY),
    line("DeleteOrderV23", "DELETE /order/{slug}", BOOKKEEPING),
    line("DeleteReviewTaskV23", "DELETE /review-task/{token}", NOBODY),
    line("DeleteUserV23", "DELETE /user/{slug}", NOBODY),
    line("DeleteWebhookV23", "DELETE /webhook/{slug}", NOBODY),
    line("GetAccountV23", "GET /account", EVERYBODY),
    line("GetAssignmentCollectionV23", "GET /assignment", JUDGED),
    line("GetAssignmentPlanV23", "GET /assignment/plan/{slug}", NOBODY),
    line("GetAssignmentProgressV23", "GET /assignment/progress", LEADING),
    line("GetAssignmentV23", "GET /assignment/{slug}", JUDGED),
    line("GetAttachmentCollectionV23", "GET /attachment", ENTRY),
    line("GetAttachmentV23", "GET /attachment/{token}", ENTRY),
    line("GetCategoryCollectionV23", "GET /category", EVERYBODY),
    line("GetCategoryV23", "GET /category/{slug}", EVERYBODY),
    line("GetChapterCollectionV23", "GET /chapter", EVERYBODY),
    line("GetChapterV23", "GET /chapter/{slug}", EVERYBODY),
    line("GetContentBlockV23", "GET /content-block/{slug}", PARTICIPANTS),
    line("GetContributorCollectionV23", "GET /contributor", ENTRY),
    line("GetContributorV23", "GET /contributor/{slug}", ENTRY),
    line("GetDocumentCollectionV23", "GET /document", ENTRY),
    line("GetDocumentV23", "GET /document/{slug}", ENTRY),
    line("GetEntryCollectionStreamV23", "GET /entry/stream", ENTRY),
    line("GetEntryCollectionV23", "GET /entry", PARTICIPANTS),
    line("GetEntryStreamV23", "GET /entry/{slug}/stream", ENTRY),
    line("GetEntrySummaryV23", "GET /entry/summary", ENTRY),
    line("GetEntryV23", "GET /entry/{slug}", PARTICIPANTS),
    line("GetEventCollectionV23", "GET /event", NOBODY),
    line("GetFieldCollectionV23", "GET /field", ENTRY),
    line("GetFieldV23", "GET /field/{slug}", ENTRY),
    line("GetFileV23", "GET /file/{token}", ENTRY),
    line("GetFormCollectionV23", "GET /form", PARTICIPANTS),
    line("GetFormV23", "GET /form/{slug}", PARTICIPANTS),
    line("GetJobCollectionV23", "GET /job", NOBODY),
    line("GetJobV23", "GET /job/{slug}", NOBODY),
    line("GetLeaderboardAnalysisV23", "GET /leaderboard/analysis", NOBODY),
    line("GetLeaderboardCastingVoteV23", "GET /leaderboard/casting-vote", NOBODY),
    line("GetLeaderboardCollectionV23", "GET /leaderboard", NOBODY),
    line("GetLeaderboardLotV23", "GET /leaderboard/lot", NOBODY),
    line("GetLeaderboardPublicationBundleV23", "GET /leaderboard/publication/{slug}/bundle", NOBODY),
    line("GetLeaderboardPublicationCollectionV23", "GET /leaderboard/publication", EVERYBODY),
    line("GetLeaderboardPublicationV23", "GET /leaderboard/publication/{slug}", EVERYBODY),
    line("GetOrderCollectionV23", "GET /order", PAYMENT),
    line("GetOrderItemsV23", "GET /order/{slug}/items", PAYMENT),
    line("GetOrderV23", "GET /order/{slug}", PAYMENT),
    line("GetPanelV23", "GET /panel/{slug}", CHAPTER),
    line("GetPriceV23", "GET /price/{slug}", PAYMENT),
    line("GetReviewStageV23", "GET /review-stage/{slug}", CHAPTER),
    line("GetReviewTaskCollectionV23", "GET /review-task", EVERYBODY),
    line("GetReviewTaskV23", "GET /review-task/{token}", EVERYBODY),
    line("GetRoleV23", "GET /role/{slug}", EVERYBODY),
    line("GetRoundCollectionV23", "GET /round", PARTICIPANTS),
    line("GetRoundV23", "GET /round/{slug}", PARTICIPANTS),
    line("GetScoreSetCollectionV23", "GET /score-set", JUDGED),
    line("GetScoreSetV23", "GET /score-set/{slug}", JUDGED),
    line("GetSeasonCollectionV23", "GET /season", EVERYBODY),
    line("GetSeasonV23", "GET /season/{slug}", EVERYBODY),
    line("GetTaxCollectionV23", "GET /tax", PAYMENT),
    line("GetTaxV23", "GET /tax/{slug}", PAYMENT),
    line("GetUserAuthTokenV23", "GET /user/{slug}/auth-token", NOBODY),
    line("GetUserCollectionV23", "GET /user", ENTRY),
    line("GetUserV23", "GET /user/{slug}", ENTRY),
    line("GetWebhookCollectionV23", "GET /webhook", NOBODY),
    line("GetWebhookDeliveryCollectionV23", "GET /webhook/{slug}/delivery", NOBODY),
    line("GetWebhookDeliveryV23", "GET /webhook/{slug}/delivery/{id}", NOBODY),
    line("GetWebhookV23", "GET /webhook/{slug}", NOBODY),
    line("PostAssignmentApplyV23", "POST /assignment/apply", NOBODY),
    line("PostAssignmentConflictV23", "POST /assignment/{slug}/conflict", JUDGED),
    line("PostAssignmentPlanV23", "POST /assignment/plan", NOBODY),
    line("PostAssignmentReassignV23", "POST /assignment/reassign", NOBODY),
    line("PostAssignmentReopenV23", "POST /assignment/{slug}/reopen", LEADING),
    line("PostAssignmentUndoV23", "POST /assignment/undo", NOBODY),
    line("PostAssignmentV23", "POST /assignment", CHAPTER),
    line("PostCategoryUploadV23", "POST /category/{slug}/upload", NOBODY),
    line("PostCategoryV23", "POST /category", NOBODY),
    line("PostChapterUploadV23", "POST /chapter/{slug}/upload", NOBODY),
    line("PostChapterV23", "POST /chapter", NOBODY),
    line("PostContributorV23", "POST /contributor", ENTRY),
    line("PostDocumentV23", "POST /document", CHAPTER),
    line("PostEntryAttachmentV23", "POST /entry/{slug}/attachment/{tab}", ENTRY),
    line("PostEntryCopyV23", "POST /entry/{slug}/copy", CHAPTER),
    line("PostEntryRestoreV23", "POST /entry/{slug}/restore", CHAPTER),
    line("PostEntryUploadV23", "POST /entry/{slug}/upload/{field}", ENTRY),
    line("PostEntryV23", "POST /entry", ENTRY),
    line("PostFieldRestoreV23", "POST /field/{slug}/restore", NOBODY),
    line("PostFieldV23", "POST /field", NOBODY),
    line("PostLeaderboardAdvanceV23", "POST /leaderboard/advance", NOBODY),
    line("PostLeaderboardPublishV23", "POST /leaderboard/publish", NOBODY),
    line("PostOrderPaymentV23", "POST /order/{slug}/payment", BOOKKEEPING),
    line("PostOrderQuoteV23", "POST /order/quote", ORDERING),
    line("PostOrderRefundV23", "POST /order/{slug}/refund", BOOKKEEPING),
    line("PostOrderV23", "POST /order", ORDERING),
    line("PostReviewTaskV23", "POST /review-task", NOBODY),
    line("PostUserEraseV23", "POST /user/{slug}/erase", NOBODY),
    line("PostUserRestoreV23", "POST /user/{slug}/restore", NOBODY),
    line("PostUserUploadV23", "POST /user/{slug}/upload/{field}", NOBODY),
    line("PostUserV23", "POST /user", NOBODY),
    line("PostWebhookDeliveryReplayV23", "POST /webhook/{slug}/delivery/{id}/replay", NOBODY),
    line("PostWebhookReplayV23", "POST /webhook/{slug}/replay", NOBODY),
    line("PostWebhookTestV23", "POST /webhook/{slug}/test", NOBODY),
    line("PostWebhookV23", "POST /webhook", NOBODY),
    line("PutAssignmentAbstainV23", "PUT /assignment/{slug}/abstain", JUDGED),
    line("PutAssignmentScoreV23", "PUT /assignment/{slug}/score", JUDGED),
    line("PutAttachmentUpdateFieldV23", "PUT /attachment/{token}/update-field/{field}", ENTRY),
    line("PutAttachmentV23", "PUT /attachment/{token}", ENTRY),
    line("PutCategoryV23", "PUT /category/{slug}", NOBODY),
    line("PutChapterV23", "PUT /chapter/{slug}", NOBODY),
    line("PutContributorUpdateFieldV23", "PUT /contributor/{slug}/update-field/{field}", ENTRY),
    line("PutContributorV23", "PUT /contributor/{slug}", ENTRY),
    line("PutEntryRecuseV23", "PUT /entry/{slug}/recuse", CHAPTER),
    line("PutEntryTagV23", "PUT /entry/{slug}/tag/{tags}", CHAPTER),
    line("PutEntryUnrecuseV23", "PUT /entry/{slug}/unrecuse", CHAPTER),
    line("PutEntryUpdateCategoryV23", "PUT /entry/{slug}/update-category", ENTRY),
    line("PutEntryUpdateChapterV23", "PUT /entry/{slug}/update-chapter", ENTRY),
    line("PutEntryUpdateFieldV23", "PUT /entry/{slug}/update-field/{field}", ENTRY),
    line("PutEntryUpdateTitleV23", "PUT /entry/{slug}/update-title", ENTRY),
    line("PutEntryV23", "PUT /entry/{slug}", ENTRY),
    line("PutFieldV23", "PUT /field/{slug}", NOBODY),
    line("PutLeaderboardCastingVoteV23", "PUT /leaderboard/casting-vote", NOBODY),
    line("PutLeaderboardLotV23", "PUT /leaderboard/lot", NOBODY),
    line("PutOrderV23", "PUT /order/{slug}", BOOKKEEPING),
    line("PutReviewTaskDecisionV23", "PUT /review-task/{token}/decision", EVERYBODY),
    line("PutUserV23", "PUT /user/{slug}", NOBODY),
    line("PutWebhookV23", "PUT /webhook/{slug}", NOBODY),
];

/// What reads and makes something all the same: a way to sign in.
const MAKES: &str = "GetUserAuthTokenV23";

impl Operation {
    /// The operation of a method and a path with the names of its parameters.
    pub fn at(method: &str, path: &str) -> Option<&'static Self> {
        static ROUTES: LazyLock<HashMap<&str, &Operation>> =
            LazyLock::new(|| OPERATIONS.iter().map(|operation| (operation.route, operation)).collect());
        let method = if method == "HEAD" { "GET" } else { method };
        ROUTES.get(format!("{method} {path}").as_str()).copied()
    }

    /// Whether a role has it.
    pub fn is_of(&self, role: RoleType) -> bool {
        match role {
            RoleType::ProgramManager => true,
            RoleType::Auditor => self.route.starts_with("GET ") && self.id != MAKES,
            role => self.roles.contains(&role),
        }
    }
}

/// The table for readers, in Markdown.
pub fn documentation() -> String {
    let mut text = String::from(
        "# What the keys of persons may do\n\nThis page is made from `crates/plaudit/src/access/operations.rs`; a test \
         compares the two. A key of the account has\nevery operation. A key of a person has those of all roles of the \
         person; another one is 403. What a person sees is said\nin [security.md](security.md#keys-of-persons).\n\n| \
         Operation |",
    );
    for (name, _) in RoleType::CHOICES {
        let _ = write!(text, " {} |", name.replace('_', " "));
    }
    let _ = writeln!(text, "\n|---|{}", ":-:|".repeat(RoleType::CHOICES.len()));
    for operation in OPERATIONS {
        let _ = write!(text, "| {} `{}` |", operation.id, operation.route);
        for (_, role) in RoleType::CHOICES {
            text.push_str(if operation.is_of(*role) { " yes |" } else { " |" });
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_documentation_is_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/access.md");
        let made = documentation();
        let found = fs::read_to_string(path).unwrap();
        assert!(found == made, "docs/access.md must be:\n{made}");
    }
}
