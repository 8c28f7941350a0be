//! Pure rules of seasons.

use super::{Season, Status};
use kernel::document;
use kernel::text::{Slug, Timestamp};

/// The season that ends when `activated` becomes the active one: the active season before it, archived.
pub fn activate<'s>(seasons: impl IntoIterator<Item = &'s Season>, activated: Slug, now: Timestamp) -> Option<Season> {
    let before = seasons.into_iter().find(|season| season.status == Status::Active && season.slug != activated)?;
    Some(Season { status: Status::Archived, updated: now, ..before.clone() })
}

/// The season as it is shown (contract, section 6).
pub fn document(season: &Season) -> String {
    document::object(|object| {
        object.time("created", season.created);
        object.translated("name", &season.name);
        object.slug("slug", season.slug);
        object.text("status", season.status.name());
        object.time("updated", season.updated);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Context, store};
    use kernel::text::Locale;

    fn season(slug: &str, status: &str) -> Season {
        let context = Context {
            languages: vec![Locale::EnGb],
            default_language: Locale::EnGb,
            now: Timestamp::from_seconds(1_000),
        };
        let text = format!(r#"{{"slug":"{slug}","name":{{"en_GB":"Spring"}},"status":"{status}"}}"#);
        let season = store::parse(&text, &context).unwrap();
        assert_eq!(store::parse::<Season>(&store::stored(&season), &context).unwrap(), season);
        season
    }

    #[test]
    fn activating_a_season_archives_the_active_one() {
        let seasons = [season("SeasonAA", "active"), season("SeasonBB", "draft"), season("SeasonCC", "archived")];
        let now = Timestamp::from_seconds(2_000);
        let ended = activate(&seasons, seasons[1].slug, now).unwrap();
        assert_eq!((ended.slug, ended.status, ended.updated), (seasons[0].slug, Status::Archived, now));
        assert_eq!(activate(&seasons, seasons[0].slug, now), None, "it is the active one already");
    }
}
