//! What a template finds: records as the interface shows them, with texts of several languages in one.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::board::Board;
use crate::access::Sight;
use crate::deliveries::payload;
use crate::program::Program;
use crate::program::document_templates::{DocumentTemplate, Subject};
use crate::program::score_sets;
use crate::records::store::named;
use crate::records::{StoredRow, orders, users};
use crate::render::language::{self, Languages};
use crate::services::App;
use db::{AccountId, DbError, Source, Tx};
use kernel::document;
use kernel::kind::Kind;
use kernel::text::{Locale, Slug, Token};

/// The types of pictures that can be placed.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The most bytes of the pictures of a document.
const PICTURE_BYTES: i64 = 32 << 20;

/// What a document is about.
pub(super) struct Facts {
    /// What its template finds, by name.
    pub(super) data: Map<String, Value>,
    /// The language.
    pub(super) locale: Locale,
    /// The entry that it is about.
    pub(super) entry: Option<Slug>,
    /// Whom it is for.
    pub(super) recipient: Option<Slug>,
    /// The e-mail address of whom it is for; empty for none.
    pub(super) email: String,
    /// The pictures that its template finds.
    pub(super) pictures: Vec<Token>,
}

/// Reads facts for documents of a template.
pub(super) struct Reader {
    pub(super) app: App,
    pub(super) account: AccountId,
    pub(super) program: Arc<Program>,
    pub(super) template: DocumentTemplate,
    /// How much of an entry is shown: what its applicant sees, where the document is shared.
    sight: Sight,
    /// That of the template's score set, or of what the documents are about, once it was asked for.
    board: Option<(Slug, Option<Board>)>,
}

impl Reader {
    pub(super) fn new(app: &App, program: &Arc<Program>, template: &DocumentTemplate, is_shared: bool) -> Self {
        let (app, program, template) = (app.clone(), Arc::clone(program), template.clone());
        let sight = if is_shared { Sight::Applicant } else { Sight::Whole };
        Self { account: program.id, app, program, template, sight, board: None }
    }

    /// The facts of a record; nothing where there is no such record any more.
    pub(super) async fn read(&mut self, slug: &str) -> Result<Option<Facts>, DbError> {
        let mut tx = self.app.db.snapshot().await?;
        let facts = self.read_in(&mut tx, slug).await?;
        tx.commit().await?;
        Ok(facts)
    }

    async fn read_in(&mut self, tx: &mut Tx, slug: &str) -> Result<Option<Facts>, DbError> {
        let subject = self.template.subject;
        let Some(row) = self.row(tx, subject.kind(), slug).await?.filter(|row| !row.deleted) else { return Ok(None) };
        let own = self.shown(tx, subject.kind(), &row, &self.languages(None)).await?;
        let slug_at = |pointer: &str| own.pointer(pointer).and_then(Value::as_str).and_then(Slug::parse);
        let (entry, recipient) = match subject {
            Subject::Entry => (slug_at("/slug"), slug_at("/entrant/slug")),
            Subject::User => (None, slug_at("/slug")),
            Subject::Order => (None, slug_at("/user/slug")),
            Subject::Assignment => (slug_at("/entry/slug"), slug_at("/judge/slug")),
            Subject::ScoreSet => (None, None),
        };
        let user = match recipient {
            Some(user) => self.row(tx, Kind::User, user.as_str()).await?,
            None => None,
        };
        let own_language = user.as_ref().and_then(|user| user_language(&user.doc));
        let locale = own_language.filter(|locale| self.program.account.languages.contains(locale));
        let (_, locale) = self.template.text_in(&self.in_order(locale));
        let languages = self.languages(Some(locale));
        let mut data = self.general();
        let mut email = String::new();
        if let Some(user) = &user {
            let shown = self.shown(tx, Kind::User, user, &languages).await?;
            if !user.deleted && shown["notification_emails"] == true {
                shown["email"].as_str().unwrap_or_default().clone_into(&mut email);
            }
            // Of judges no more is seen than assignments show.
            let shown = if subject == Subject::Assignment { own["judge"].clone() } else { shown };
            data.insert("user".to_owned(), shown);
        }
        let mut pictures = Vec::new();
        let about = match (subject, entry) {
            (Subject::Entry, _) => Some(row.clone()),
            (_, Some(entry)) => self.row(tx, Kind::Entry, entry.as_str()).await?,
            _ => None,
        };
        if let (Some(row), Some(entry)) = (&about, entry) {
            pictures = self.add_entry(tx, (entry, row), &languages, &mut data).await?;
        }
        match subject {
            Subject::Entry | Subject::User => {}
            Subject::Order => {
                let mut order = self.shown(tx, Kind::Order, &row, &languages).await?;
                order["formatted"] = self.formatted(&orders::store::of_row(&row)?, &languages)?;
                data.insert("order".to_owned(), order);
            }
            Subject::Assignment => {
                data.insert("assignment".to_owned(), self.shown(tx, Kind::Assignment, &row, &languages).await?);
            }
            Subject::ScoreSet => self.add_board(tx, slug, &languages, &mut data).await?,
        }
        Ok(Some(Facts { data, locale, entry, recipient, email, pictures }))
    }

    /// What every template finds.
    fn general(&self) -> Map<String, Value> {
        let account = &self.program.account;
        let seller = &account.seller;
        let known = json!({
            "account": { "slug": account.slug.as_str(), "name": account.name },
            "seller": {
                "name": seller.name, "address": seller.address, "vat_number": seller.vat_number,
                "registration": seller.registration, "iban": seller.iban, "email": seller.email,
            },
        });
        known.as_object().cloned().unwrap_or_default()
    }

    /// The languages of texts: one, and the account's own for what is not there in it.
    fn languages(&self, locale: Option<Locale>) -> Languages {
        let account = &self.program.account;
        let codes: Vec<&str> = self.in_order(locale).iter().map(|locale| locale.code()).collect();
        language::parse(Some(&codes.join(",")), &account.languages, account.default_language)
            .unwrap_or_else(|_| Languages::of_default(account.default_language))
    }

    fn in_order(&self, locale: Option<Locale>) -> Vec<Locale> {
        locale.into_iter().chain([self.program.account.default_language]).collect()
    }

    async fn row(&self, tx: &mut Tx, kind: Kind, slug: &str) -> Result<Option<StoredRow>, DbError> {
        Ok(named(tx, self.account, kind, &[slug.to_owned()]).await?.remove(slug))
    }

    /// A record as a single read shows it.
    async fn shown(&self, tx: &mut Tx, kind: Kind, row: &StoredRow, languages: &Languages) -> Result<Value, DbError> {
        if kind == Kind::ScoreSet {
            let score_set = crate::program::store::parse(&row.doc, &self.program.context)?;
            return self.rendered(tx, &score_sets::document(&score_set), languages).await;
        }
        let document = row.document();
        let of = (kind.name(), &*document);
        let shown = payload::shown(self.account, Source::Snapshot(tx), &self.program, of).await?;
        self.rendered(tx, &shown, languages).await
    }

    async fn rendered(&self, tx: &mut Tx, document: &str, languages: &Languages) -> Result<Value, DbError> {
        let people = users::store::shown_in(self.account, Source::Snapshot(tx), [document]).await?;
        let mut renderer = payload::renderer(&self.app, &self.program, *languages, document, &people);
        renderer.seen(self.sight);
        taken_apart(&renderer.bytes(document), languages)
    }

    /// The amounts of an order as they are read.
    fn formatted(&self, order: &orders::Order, languages: &Languages) -> Result<Value, DbError> {
        let totals = &order.totals;
        let document = document::object(|object| {
            object.formatted_money("subtotal", totals.subtotal);
            object.formatted_money("discount", totals.discount);
            object.formatted_money("processing_fee", totals.processing_fee);
            object.formatted_money("tax", totals.tax);
            object.formatted_money("total", totals.total);
        });
        let renderer = payload::renderer(&self.app, &self.program, *languages, &document, &[]);
        taken_apart(&renderer.bytes(&document), languages)
    }

    /// Adds an entry and what is about it; gives its pictures where the template wants them.
    async fn add_entry(
        &mut self,
        tx: &mut Tx,
        (entry, row): (Slug, &StoredRow),
        languages: &Languages,
        data: &mut Map<String, Value>,
    ) -> Result<Vec<Token>, DbError> {
        let shown = self.shown(tx, Kind::Entry, row, languages).await?;
        for name in ["category", "chapter", "season"] {
            data.insert(name.to_owned(), shown[name].clone());
        }
        let answers = shown["entry_fields"].as_array().into_iter().flatten();
        let answers =
            answers.filter_map(|answer| Some((answer["slug"].as_str()?.to_owned(), answer["translated"].clone())));
        data.insert("answers".to_owned(), Value::Object(answers.collect()));
        if let Some(score_set) = self.template.score_set
            && let program = Arc::clone(&self.program)
            && let Some(set) = program.score_sets.live(score_set)
        {
            let item = match self.board(tx, set).await? {
                Some(board) => board.item(&program, set, (entry, &row.doc))?,
                None => None,
            };
            if let Some(item) = item {
                data.insert("scores".to_owned(), self.rendered(tx, &item, languages).await?);
            }
        }
        let pictures = if self.template.pictures { self.pictures(tx, &shown).await? } else { Vec::new() };
        data.insert("entry".to_owned(), shown);
        Ok(pictures)
    }

    /// The pictures that an entry shows, as many as fit.
    async fn pictures(&self, tx: &mut Tx, entry: &Value) -> Result<Vec<Token>, DbError> {
        let mut tokens = Vec::new();
        collect_tokens(entry, &mut tokens);
        let files = named(tx, self.account, Kind::File, &tokens).await?;
        let (mut pictures, mut bytes) = (Vec::new(), 0);
        for name in &tokens {
            let (Some(row), Some(token)) = (files.get(name), Token::parse(name)) else { continue };
            let file: Value = serde_json::from_str(&row.doc).unwrap_or_default();
            let size = file["size"].as_i64().unwrap_or(i64::MAX);
            if PICTURES.iter().any(|mime| file["mime"] == *mime) && size <= PICTURE_BYTES - bytes {
                bytes += size;
                pictures.push(token);
            }
        }
        Ok(pictures)
    }

    /// Adds the leaderboard of a score set.
    async fn add_board(
        &mut self,
        tx: &mut Tx,
        slug: &str,
        languages: &Languages,
        data: &mut Map<String, Value>,
    ) -> Result<(), DbError> {
        let program = Arc::clone(&self.program);
        let Some(score_set) = Slug::parse(slug).and_then(|slug| program.score_sets.live(slug)) else { return Ok(()) };
        let account = self.account;
        let items = match self.board(tx, score_set).await? {
            Some(board) => board.items(tx, account, &program, score_set).await?,
            None => Vec::new(),
        };
        let mut board = Vec::with_capacity(items.len());
        for item in items {
            board.push(self.rendered(tx, &item, languages).await?);
        }
        let shown = self.rendered(tx, &score_sets::document(score_set), languages).await?;
        data.insert("season".to_owned(), shown["season"].clone());
        data.insert("score_set".to_owned(), shown);
        data.insert("board".to_owned(), Value::Array(board));
        Ok(())
    }

    async fn board(&mut self, tx: &mut Tx, score_set: &score_sets::ScoreSet) -> Result<Option<&Board>, DbError> {
        if self.board.as_ref().is_none_or(|(slug, _)| *slug != score_set.slug) {
            let read = Board::read(tx, self.account, &self.program, score_set).await?;
            self.board = Some((score_set.slug, read));
        }
        Ok(self.board.as_ref().and_then(|(_, board)| board.as_ref()))
    }
}

/// What is shown, with a text in place of each map of texts by language.
fn taken_apart(bytes: &[u8], languages: &Languages) -> Result<Value, DbError> {
    let read = serde_json::from_slice(bytes);
    let mut value = read.map_err(|error| DbError::Failed(format!("what is shown is no JSON: {error}")))?;
    choose(&mut value, &preferred(languages));
    Ok(value)
}

/// The languages of texts, the one that is wanted first.
fn preferred(languages: &Languages) -> Vec<Locale> {
    let mut locales = languages.locales().to_vec();
    locales.sort_by_key(|locale| *locale != languages.first_requested());
    locales
}

/// The language that a user's document states.
fn user_language(doc: &str) -> Option<Locale> {
    let user: Value = serde_json::from_str(doc).ok()?;
    Locale::parse(user["language"]["code"].as_str()?)
}

/// Puts a text in place of each map of texts by language: the first of these that is not empty.
fn choose(value: &mut Value, locales: &[Locale]) {
    match value {
        Value::Object(members) => {
            let is_map = !members.is_empty()
                && members
                    .iter()
                    .all(|(name, text)| text.is_string() && locales.iter().any(|locale| locale.code() == name));
            if is_map {
                let mut texts = locales.iter().filter_map(|locale| members.get(locale.code())?.as_str());
                *value = Value::from(texts.find(|text| !text.is_empty()).unwrap_or_default());
            } else {
                members.values_mut().for_each(|value| choose(value, locales));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|value| choose(value, locales)),
        _ => {}
    }
}

/// The tokens of files that a record shows, each once.
fn collect_tokens(value: &Value, tokens: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(token) = members.get("token").and_then(Value::as_str)
                && members.contains_key("download")
                && !tokens.iter().any(|found| found == token)
            {
                tokens.push(token.to_owned());
            }
            members.values().for_each(|value| collect_tokens(value, tokens));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_tokens(value, tokens)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_in_the_first_language_that_has_one() {
        let mut value = json!({
            "name": { "en_GB": "Name", "de_DE": "" },
            "list": [{ "title": { "en_GB": "Title", "de_DE": "Titel" } }],
            "values": { "A1": "x" },
            "empty": {},
        });
        choose(&mut value, &[Locale::DeDe, Locale::EnGb]);
        assert_eq!(
            value,
            json!({ "name": "Name", "list": [{ "title": "Titel" }], "values": { "A1": "x" }, "empty": {} })
        );
    }
}
