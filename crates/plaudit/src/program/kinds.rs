//! The kinds of set-up records that a program holds, in one place: what is done for each of them goes through here.

use super::categories::Category;
use super::chapters::Chapter;
use super::fields::Field;
use super::forms::Form;
use super::prices::Price;
use super::roles::Role;
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
    Form: forms,
    Tab: tabs,
    Category: categories,
    Field: fields,
    Role: roles,
    Tax: taxes,
    Price: prices,
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
            $crate::kind::Kind::Season => of!($crate::program::seasons::Season),
            $crate::kind::Kind::Chapter => of!($crate::program::chapters::Chapter),
            $crate::kind::Kind::Form => of!($crate::program::forms::Form),
            $crate::kind::Kind::Tab => of!($crate::program::tabs::Tab),
            $crate::kind::Kind::Category => of!($crate::program::categories::Category),
            $crate::kind::Kind::Field => of!($crate::program::fields::Field),
            $crate::kind::Kind::Role => of!($crate::program::roles::Role),
            $crate::kind::Kind::Tax => of!($crate::program::taxes::Tax),
            $crate::kind::Kind::Price => of!($crate::program::prices::Price),
            _ => None,
        }
    }};
}
pub(crate) use for_setup_kind;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn every_kind_of_set_up_record_is_in_the_program() {
        for kind in Kind::ALL {
            let found = for_setup_kind!(kind, Record => <Record as SetupRecord>::KIND);
            assert_eq!(found, kind.is_setup().then_some(kind));
        }
    }
}
