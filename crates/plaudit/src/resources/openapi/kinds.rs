//! Every kind of record as the OpenAPI document describes it.

use crate::program::accounts::Account;
use crate::program::categories::Category;
use crate::program::chapters::Chapter;
use crate::program::content_blocks::ContentBlock;
use crate::program::fields::{self, Field};
use crate::program::forms::Form;
use crate::program::panels::Panel;
use crate::program::prices::Price;
use crate::program::review_stages::ReviewStage;
use crate::program::roles::Role;
use crate::program::rounds::Round;
use crate::program::score_sets::ScoreSet;
use crate::program::seasons::Season;
use crate::program::taxes::Tax;
use crate::program::webhooks::Webhook;
use crate::program::{Description, RecordMembers as _, SLUG};
use crate::records::assignments;
use crate::records::casting_votes::CastingVote;
use crate::records::documents::Document;
use crate::records::entries::Entry;
use crate::records::entries::attachments::Attachment;
use crate::records::entries::contributors::Contributor;
use crate::records::files;
use crate::records::lots::Lot;
use crate::records::orders;
use crate::records::publications;
use crate::records::review_tasks::ReviewTask;
use crate::records::users::User;
use kernel::kind::Kind;

/// What judges are shown of entries, whatever the score set.
const ENTRY: &[&str] = &["slug", "title", "category", "chapter", "form", "season"];

/// A kind of record; nothing where no operation is about it.
pub(super) fn description(kind: Kind) -> Option<Description> {
    macro_rules! setup {
        ($record:ty, $about:literal) => {
            Description::new(stringify!($record), $about, &[&[SLUG], <$record>::MEMBERS])
        };
    }
    Some(match kind {
        Kind::Account => setup!(Account, "An account.").without_list(),
        Kind::Season => setup!(Season, "A season."),
        Kind::Chapter => setup!(
            Chapter,
            "A division of an award, by region or otherwise, in which categories can be made available."
        )
        .with_settings(),
        Kind::ContentBlock => setup!(ContentBlock, "A text that stands above forms.").without_list(),
        Kind::Form => setup!(Form, "A form."),
        Kind::Category => setup!(Category, "A category.").with_settings(),
        Kind::Field => {
            let members = &[&[SLUG], Field::MEMBERS, fields::BODY];
            Description::new("Field", "A question of a form.", members).with_settings()
        }
        Kind::Role => setup!(Role, "What users may do.").without_list(),
        Kind::Tax => setup!(Tax, "A tax."),
        Kind::Price => setup!(Price, "What an entry, a person, a tag or a ticket costs.").without_list(),
        Kind::Round => setup!(Round, "A time in which entries are submitted or judged."),
        Kind::ScoreSet => setup!(ScoreSet, "How entries are judged."),
        Kind::Panel => setup!(Panel, "Who judges which entries, and when.").without_list(),
        Kind::ReviewStage => setup!(ReviewStage, "Who has to agree to an entry.").without_list(),
        Kind::Webhook => setup!(Webhook, "An endpoint that is told what happens."),
        Kind::User => Description::new("User", "A user.", &[User::MEMBERS]).open(),
        Kind::File => Description::new("File", "A file.", &[files::MEMBERS]).without_list(),
        Kind::Entry => setup!(Entry, "An entry. Judges are shown some of its members.").showing_all(ENTRY),
        Kind::Contributor => {
            Description::new("Contributor", "Somebody who took part in an entry.", &[Contributor::MEMBERS])
        }
        Kind::Attachment => Description::new("Attachment", "A file of an entry.", &[Attachment::MEMBERS]),
        Kind::Order => Description::new("Order", "An order.", orders::MEMBERS),
        Kind::Assignment => {
            Description::new("Assignment", "Who is to judge an entry, and the sheet.", &[assignments::MEMBERS])
        }
        Kind::ReviewTask => {
            Description::new("ReviewTask", "A stage asks its reviewers about an entry.", &[ReviewTask::MEMBERS])
        }
        Kind::CastingVote => setup!(CastingVote, "The order in which the chair puts tied entries.").without_list(),
        Kind::Lot => setup!(Lot, "The order in which entries were drawn (RFC 3797).").without_list(),
        Kind::Publication => Description::new("Publication", "A published result.", &[publications::MEMBERS]),
        Kind::Document => setup!(Document, "A file that was made of a template."),
        Kind::ApiKey
        | Kind::Tab
        | Kind::Discount
        | Kind::Criterion
        | Kind::DocumentTemplate
        | Kind::OrderItem
        | Kind::Payment
        | Kind::Score
        | Kind::Conflict
        | Kind::Recusal => return None,
    })
}
