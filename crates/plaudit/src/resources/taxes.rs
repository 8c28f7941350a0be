//! The operation of taxes, which reads only.

use utoipa_axum::router::OpenApiRouter;

use crate::lists::page::ListSpec;
use crate::program::taxes::{Tax, document};
use crate::resources::setup_list::{Of, SetupList, columns};
use crate::resources::setup_record::{self, Related, SetupResource};
use crate::services::App;

/// The routes of taxes.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(setup_record::list::<Tax>("GetTaxCollectionV23"))
}

const ORDERS: &[&str] =
    &["country", "country_name", "created", "name", "rate", "region", "region_name", "term", "updated"];
const CELLS: &[(&str, Of<Tax>); 10] = &[
    ("country", Of::Text(|tax, _| Some(tax.country.clone()))),
    ("country_name", Of::Text(|tax, _| Some(tax.country_name.clone()))),
    ("created", Of::Time(|tax| tax.created)),
    ("deleted", Of::Deleted),
    ("name", Of::Text(|tax, _| tax.name.clone())),
    ("rate", Of::Number(|tax, _| tax.rate.ten_thousandths().into())),
    ("region", Of::Text(|tax, _| tax.region.clone())),
    ("region_name", Of::Text(|tax, _| tax.region_name.clone())),
    ("term", Of::Text(|tax, _| Some(tax.term.clone()))),
    ("updated", Of::Time(|tax| tax.updated)),
];

impl SetupResource for Tax {
    const GROUP: &'static str = "Taxes";
    const LIST: &'static SetupList<Self> = &SetupList {
        spec: ListSpec { always: &[("deleted", "0")], ..ListSpec::new(&[], ORDERS) },
        cells: CELLS,
        columns: &columns(CELLS),
    };

    fn document(&self, _: &Related<'_>) -> String {
        document(self)
    }
}
