//! The kinds of set-up records that a program holds, in one place: what is done for each of them goes through here.

use super::categories::Category;
use super::chapters::Chapter;
use super::content_blocks::ContentBlock;
use super::criteria::Criterion;
use super::discounts::Discount;
use super::document_templates::DocumentTemplate;
use super::fields::Field;
use super::forms::Form;
use super::panels::Panel;
use super::prices::Price;
use super::review_stages::ReviewStage;
use super::roles::Role;
use super::rounds::Round;
use super::score_sets::ScoreSet;
use super::seasons::Season;
use super::tabs::Tab;
use super::taxes::Tax;
use super::{Program, Records, SetupRecord};

/// A kind of set-up record that has its records in the program, unlike the account, which is the program's own.
pub trait InProgram: SetupRecord {
    /// The program's records of this kind.
    fn records(program: &Program) -> &Records<Self>;

    /// The program's records of this kind, to be filled.
    fn records_mut(program: &mut Program) -> &mut Records<Self>;
}

macro_rules! in_program {
    ($($record:ty: $records:ident,)*) => {
        $(impl InProgram for $record {
            fn records(program: &Program) -> &Records<Self> {
                &program.$records
            }

            fn records_mut(program: &mut Program) -> &mut Records<Self> {
                &mut program.$records
            }
        })*
    };
}

in_program! {
    Season: seasons,
    Chapter: chapters,
    ContentBlock: content_blocks,
    Form: forms,
    Tab: tabs,
    Category: categories,
    Field: fields,
    Role: roles,
    Tax: taxes,
    Price: prices,
    Discount: discounts,
    Round: rounds,
    ScoreSet: score_sets,
    Criterion: criteria,
    Panel: panels,
    ReviewStage: review_stages,
    DocumentTemplate: document_templates,
}

/// `for_setup_kind!(kind, Record => expression)`: the expression with `Record` standing for the type of the records of
/// this kind, or `None` where the kind has none in the program.
macro_rules! for_setup_kind {
    ($kind:expr, $record:ident => $then:expr) => {{
        macro_rules! of {
            ($type:path) => {{
                type $record = $type;
                Some($then)
            }};
        }
        match $kind {
            kernel::kind::Kind::Season => of!($crate::program::seasons::Season),
            kernel::kind::Kind::Chapter => of!($crate::program::chapters::Chapter),
            kernel::kind::Kind::ContentBlock => of!($crate::program::content_blocks::ContentBlock),
            kernel::kind::Kind::Form => of!($crate::program::forms::Form),
            kernel::kind::Kind::Tab => of!($crate::program::tabs::Tab),
            kernel::kind::Kind::Category => of!($crate::program::categories::Category),
            kernel::kind::Kind::Field => of!($crate::program::fields::Field),
            kernel::kind::Kind::Role => of!($crate::program::roles::Role),
            kernel::kind::Kind::Tax => of!($crate::program::taxes::Tax),
            kernel::kind::Kind::Price => of!($crate::program::prices::Price),
            kernel::kind::Kind::Discount => of!($crate::program::discounts::Discount),
            kernel::kind::Kind::Round => of!($crate::program::rounds::Round),
            kernel::kind::Kind::ScoreSet => of!($crate::program::score_sets::ScoreSet),
            kernel::kind::Kind::Criterion => of!($crate::program::criteria::Criterion),
            kernel::kind::Kind::Panel => of!($crate::program::panels::Panel),
            kernel::kind::Kind::ReviewStage => of!($crate::program::review_stages::ReviewStage),
            kernel::kind::Kind::DocumentTemplate => of!($crate::program::document_templates::DocumentTemplate),
            _ => None,
        }
    }};
}
pub(crate) use for_setup_kind;

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::kind::Kind;

    #[test]
    fn every_kind_of_set_up_record_is_in_the_program() {
        for kind in Kind::ALL {
            let found = for_setup_kind!(kind, Record => <Record as SetupRecord>::KIND);
            assert_eq!(found, kind.is_setup().then_some(kind));
        }
    }
}
