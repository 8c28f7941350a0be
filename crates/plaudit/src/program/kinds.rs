//! The kinds of set-up records that a program holds, in one place: what is done for each of them goes through here.

use super::{Program, Records, SetupRecord};

/// A kind of set-up record that has its records in the program, unlike the account, which is the program's own.
pub trait InProgram: SetupRecord {
    /// The program's records of this kind.
    fn records(program: &Program) -> &Records<Self>;

    /// The program's records of this kind, to be filled.
    fn records_mut(program: &mut Program) -> &mut Records<Self>;
}

/// `setup_kinds!([then] arguments)`: the macro `then` with the arguments, and with every kind of set-up record and where the
/// program has its records.
macro_rules! setup_kinds {
    ([$($then:tt)*] $($argument:tt)*) => {
        $($then)*! {
            $($argument)*
            Season in seasons;
            Chapter in chapters;
            ContentBlock in content_blocks;
            Form in forms;
            Tab in tabs;
            Category in categories;
            Field in fields;
            Role in roles;
            Tax in taxes;
            Price in prices;
            Discount in discounts;
            Round in rounds;
            ScoreSet in score_sets;
            Criterion in criteria;
            Panel in panels;
            ReviewStage in review_stages;
            DocumentTemplate in document_templates;
            Webhook in webhooks;
        }
    };
}
pub(crate) use setup_kinds;

macro_rules! in_program {
    ($($record:ident in $records:ident;)*) => {
        /// The set-up records of a program, kind by kind.
        #[derive(Clone, Debug, Default)]
        #[allow(missing_docs, reason = "each member is named for its kind")]
        pub struct SetUp {
            $(pub $records: Records<super::$records::$record>,)*
        }

        $(impl InProgram for super::$records::$record {
            fn records(program: &Program) -> &Records<Self> {
                &program.$records
            }

            fn records_mut(program: &mut Program) -> &mut Records<Self> {
                &mut program.$records
            }
        })*
    };
}

setup_kinds!([in_program]);

/// `setup_kinds!([any_kind] (Entry, Order))`, a pattern: every kind of set-up record, and these.
macro_rules! any_kind {
    (($($other:ident),*) $($record:ident in $records:ident;)*) => {
        $(kernel::kind::Kind::$other |)* $(kernel::kind::Kind::$record)|*
    };
}
pub(crate) use any_kind;

/// `for_setup_kind!(kind, Record => expression)`: the expression with `Record` standing for the type of the records of
/// this kind, or `None` where the kind has none in the program.
macro_rules! for_setup_kind {
    ($kind:expr, $record:ident => $then:expr) => {
        $crate::program::setup_kinds!([$crate::program::of_setup_kind] { $kind } { $record } { $then })
    };
}
pub(crate) use for_setup_kind;

macro_rules! of_setup_kind {
    ({ $kind:expr } { $record:ident } { $then:expr } $($type:ident in $records:ident;)*) => {
        match $kind {
            $(kernel::kind::Kind::$type => {
                type $record = $crate::program::$records::$type;
                Some($then)
            })*
            kernel::kind::Kind::Account
            | kernel::kind::Kind::ApiKey
            | kernel::kind::Kind::User
            | kernel::kind::Kind::File
            | kernel::kind::Kind::Entry
            | kernel::kind::Kind::Contributor
            | kernel::kind::Kind::Attachment
            | kernel::kind::Kind::Order
            | kernel::kind::Kind::OrderItem
            | kernel::kind::Kind::Payment
            | kernel::kind::Kind::Assignment
            | kernel::kind::Kind::Score
            | kernel::kind::Kind::Conflict
            | kernel::kind::Kind::Recusal
            | kernel::kind::Kind::CastingVote
            | kernel::kind::Kind::Lot
            | kernel::kind::Kind::Publication
            | kernel::kind::Kind::Document
            | kernel::kind::Kind::ReviewTask => None,
        }
    };
}
pub(crate) use of_setup_kind;

#[cfg(test)]
mod tests {
    use crate::program::StoredRecord;
    use kernel::kind::Kind;

    #[test]
    fn every_kind_of_set_up_record_is_in_the_program() {
        for kind in Kind::ALL {
            let found = for_setup_kind!(kind, Record => <Record as StoredRecord>::KIND);
            assert_eq!(found, kind.is_setup().then_some(kind));
        }
    }
}
