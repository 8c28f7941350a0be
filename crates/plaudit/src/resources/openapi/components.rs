//! What the OpenAPI document defines once: schemas that several kinds of records share, those of errors and bodies, answers
//! that are errors, and headers.

use serde_json::{Map, Value, json};

use crate::http::ApiError;
use crate::http::idempotency::KEY_LENGTH;
use crate::lists::page::ListQuery;
use crate::program::review_stages::Decision;
use crate::program::{Usage, component, definitions, page_of, pascal};
use crate::records::entries::attachments::LAST_PLACE;
use crate::records::entries::{Status, TITLE_LENGTH};
use crate::records::orders::list::LIST;
use crate::records::orders::{self, TransactionStatus};
use crate::records::review_tasks::COMMENT_LENGTH;
use crate::resources::openapi::assignments::body;
use crate::resources::openapi::{assignments, deliveries, documents, jobs, kinds, leaderboard, publications, webhooks};
use crate::services::disks::Disk;
use kernel::input::Violations;
use kernel::kind::Kind;
use kernel::text::Locale;

/// Every schema by its name.
pub(super) fn schemas() -> Map<String, Value> {
    // Times are shown alone, and then have a form of their own.
    let defined = definitions().into_iter().filter(|(name, _)| name != "time");
    let mut schemas: Map<String, Value> = defined.map(|(name, schema)| (pascal(&name), schema)).collect();
    schemas.extend(references());
    schemas.extend(answers());
    schemas.extend(assignments::schemas());
    schemas.extend(bodies());
    schemas.extend(errors());
    schemas.extend(jobs::schemas());
    schemas.extend(leaderboard::schemas());
    schemas.extend(publications::schemas());
    schemas.extend(deliveries::schemas());
    schemas.extend(documents::schemas());
    schemas.extend(webhooks::schemas());
    let kinds = Kind::ALL.into_iter().filter_map(kinds::description);
    schemas.extend(kinds.flat_map(|description| description.schemas()));
    schemas
}

pub(super) fn object(about: &str, properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let mut schema = json!({ "description": about, "type": "object", "required": required });
    schema["properties"] = properties;
    schema
}

pub(super) fn string(about: &str) -> Value {
    json!({ "description": about, "type": "string" })
}

pub(super) fn text(about: &str, max: usize) -> Value {
    json!({ "description": about, "type": "string", "maxLength": max, "pattern": "\\S" })
}

pub(super) fn or_null(about: &str, schema: &Value) -> Value {
    json!({ "description": about, "anyOf": [schema, { "type": "null" }] })
}

pub(super) fn list(about: &str, items: &Value) -> Value {
    json!({ "description": about, "type": "array", "items": items })
}

pub(super) fn slug() -> Value {
    component("Slug")
}

pub(super) fn link() -> Value {
    component("Link")
}

pub(super) fn named(schemas: Value) -> Map<String, Value> {
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}

/// A stored file whose name is this member.
fn file(about: &str, name: &str) -> Value {
    let (token, download) = (component("Token"), component("DownloadLink"));
    object(about, json!({ "token": token, "link": link(), name: string("Its name."), "download": download }))
}

/// What stands for a record in the answers about others.
fn references() -> Map<String, Value> {
    let first = || string("The first name.");
    let last = || string("The last name.");
    let email = || json!({ "description": "The e-mail address.", "type": ["string", "null"] });
    let name = || string("The whole name.");
    let purchaser = || {
        let (slug, link, name, first, last, email) = (slug(), link(), name(), first(), last(), email());
        json!({ "slug": slug, "link": link, "name": name, "first_name": first, "last_name": last, "email": email })
    };
    let mut entrant = purchaser();
    entrant["global_id"] = string("What the person is called in every account.");
    let (texts, title) = (component("Translated"), string("The title."));
    let titled = json!({ "slug": slug(), "link": link(), "title": title });
    let rate = json!({ "description": "The percentage.", "type": "number" });
    let optional = |about: &str| json!({ "description": about, "type": ["string", "null"] });
    named(json!({
        "Link": { "description": "An address of the interface.", "type": "string" },
        "DownloadLink": {
            "description": "A signed address of the bytes of a file, good for a while.",
            "type": "string",
            "examples": ["https://awards.example.org/download/AccountA/FileAAAAAAAA?expires=1769850000&signature=c2lnbmF0dXJl"],
        },
        "Timestamp": {
            "description": "A time in UTC, with six decimals, so that times sort as text.",
            "type": "string",
            "format": "date-time",
        },
        "Translated": {
            "description": "Texts by the code of their locale: the account's default language, or those that \
                `x-api-language` asks for. A text that is missing is empty.",
            "type": "object",
            "propertyNames": component("Locale"),
            "additionalProperties": { "type": "string" },
        },
        "Reference":
            object("A record by its address and name.", json!({ "slug": slug(), "link": link(), "name": texts })),
        "PriceReference":
            object("A price by its address and title.", json!({ "slug": slug(), "link": link(), "title": texts })),
        "TabReference": object("A tab of a form.", json!({
            "slug": slug(),
            "type": string("What it holds."),
            "created_at": component("Timestamp"),
            "updated_at": component("Timestamp"),
        })),
        "EntryReference": object("An entry by its address and title.", titled),
        "UserReference": object("A user.", json!({ "slug": slug(), "link": link(), "name": name() })),
        "Judge": object("A judge.", json!({ "slug": slug(), "link": link(), "name": name() })),
        "Manager": object("A manager of a chapter, or a judge of a panel.", json!({
            "slug": slug(), "link": link(), "first_name": first(), "last_name": last(),
        })),
        "Owner": object("The user who owns an account.", json!({
            "slug": slug(), "link": link(), "name": name(), "first_name": first(), "last_name": last(),
        })),
        "Purchaser": object("The user who ordered.", purchaser()),
        "Entrant": object("The user whom an entry belongs to.", entrant),
        "StoredFile": file("A stored file.", "filename"),
        "DocumentFile": file("The file of a document.", "name"),
        "TaxRateDetails": object("The tax of an order, as it was when the order was made.", json!({
            "slug": slug(),
            "link": link(),
            "name": optional("What tells it from other taxes of the country."),
            "term": string("What it is called on an invoice."),
            "rate": rate,
            "country": string("The code of the country."),
            "region": optional("The code of the region."),
        })),
        "LanguageCode": object("A language of an account.", json!({ "code": component("Locale") })),
        "Language": object("A language.", json!({
            "code": component("Locale"), "language": string("Its name in English."),
        })),
        "AnyObject": { "description": "An object of any members.", "type": "object" },
    }))
}

/// Parts of answers, and answers that are no records.
fn answers() -> Map<String, Value> {
    let counts = |about: &str, member: &str, of: Value| {
        let properties = json!({ member: of, "total": component("Count"), "statuses": component("EntryStatuses") });
        object(about, properties)
    };
    let statuses = Status::CHOICES.iter().map(|(name, _)| ((*name).to_owned(), component("Count")));
    let price = or_null("The price.", &component("PriceReference"));
    let entry = or_null("The entry.", &component("EntryReference"));
    let quote = quote(&entry, &price);
    let season = or_null("The season; null for all of them.", &component("Reference"));
    named(json!({
        "Count": { "description": "How many.", "type": "integer", "minimum": 0 },
        "FieldAnswer": field_answer(),
        "FieldAnswers": list("Answers, in the order of their fields.", &component("FieldAnswer")),
        "EntryAttachment": object("An attachment as its entry shows it.", json!({
            "token": component("Token"),
            "link": link(),
            "file": component("StoredFile"),
            "attachment_fields": component("FieldAnswers"),
            "tab": component("TabReference"),
        })),
        "EntryContributor": object("A contributor as the entry shows it.", json!({
            "slug": slug(), "tab": component("TabReference"), "contributor_fields": component("FieldAnswers"),
        })),
        "OrderLine": object("A line of an order.", json!({
            "amount": string("The amount as it is written."),
            "description": string("What it is for."),
            "discount": string("The discount as it is written."),
            "entry": entry,
            "item_type": string("What kind of line it is."),
            "name": string("What it is called."),
            "price": price,
            "quantity": { "description": "How many.", "type": "integer" },
        })),
        "Payment": object("A payment of an order.", json!({
            "provider": string("Who took it; `manual` for what a manager stated."),
            "reference": string("What the provider calls it."),
            "status": { "enum": TransactionStatus::NAMES },
            "amount": { "description": "How much it is; below 0 where a manager took a manual payment back.", "type": "number" },
            "date": component("Timestamp"),
        })),
        "InvoiceAddresses": object("Signed addresses of an invoice or a credit note.", json!({
            "html": link(), "ubl": link(),
        })),
        "CreditedOrder": object("An order by its address.", json!({ "slug": slug(), "link": link() })),
        "OrderQuote": quote,
        "BilledItem": object("A line of an order, with what the order is billed with.", Value::Object(billed_item())),
        "BilledItemPage": page_of("BilledItem"),
        "EntryStatuses": object("How many entries have each status.", Value::Object(statuses.collect())),
        "EntrySummary": object("How many entries there are.", json!({
            "season": season,
            "total": component("Count"),
            "statuses": component("EntryStatuses"),
            "chapters": list("By chapter.", &counts("Entries of a chapter.", "chapter", component("Reference"))),
            "categories": list("By category.", &counts("Entries of a category.", "category", component("Reference"))),
        })),
        "UploadedFile": object("A file that was uploaded.", json!({
            "filename": string("Its name."), "token": component("Token"), "link": link(),
        })),
        "AuthToken": object("A token by which a user signs in, once.", json!({
            "auth_token": string("The token."),
            "link": {
                "description": "The address to follow.",
                "type": "string",
                "examples": ["https://awards.example.org/sign-in/AccountA/c2VjcmV0"],
            },
            "expires": component("Timestamp"),
        })),
        "Message": object("What was done.", json!({ "message": string("A sentence.") })),
        "CreatedUser": {
            "description": "The user; or, for a person who was there already, a message.",
            "anyOf": [component("User"), component("Message")],
        },
    }))
}

/// An answer to a field.
fn field_answer() -> Value {
    let mut answer = object(
        "An answer to a field (specification, section 2.3). What it has beside the field's own texts depends \
        on the type: `value`, or what belongs to a table or a file.",
        json!({
            "slug": slug(),
            "link": link(),
            "label": component("Translated"),
            "title": component("Translated"),
            "translated": component("Translated"),
        }),
    );
    let column =
        object("A column.", json!({ "key": string("What its cells begin with."), "label": component("Translated") }));
    for (name, schema) in named(json!({
        "value": {
            "description": "The answer as text; null for a file.",
            "type": ["string", "null"],
            "examples": ["An answer"],
        },
        "dynamicRows": { "description": "The rows of a table.", "type": "array", "items": {} },
        "values": {
            "description": "The cells of a table by their reference, such as A1.",
            "type": "object",
            "additionalProperties": { "type": "string" },
        },
        "schema": object("What a table is like.", json!({ "columns": { "type": "array", "items": column } })),
        "token": component("Token"),
        "download": component("DownloadLink"),
    })) {
        answer["properties"][name] = schema;
    }
    answer
}

/// Bodies that make or change no whole record. Those about one value pass unknown members over.
fn bodies() -> Map<String, Value> {
    let file = json!({
        "filename": text("The name of the file, without a path.", 255),
        "data": { "description": "The bytes of the file.", "type": "string", "contentEncoding": "base64" },
    });
    let mut upload = object("A file.", file);
    upload["additionalProperties"] = json!(false);
    let mut attachment = upload.clone();
    attachment["properties"]["order"] = json!({
        "description": "Its place among the attachments of the entry.",
        "type": "integer",
        "minimum": 0,
        "maximum": LAST_PLACE,
    });
    attachment["properties"]["attachment_fields"] = component("Answers");
    attachment["required"] = json!(["filename", "data", "order"]);
    let mut decision = object(
        "A decision.",
        json!({
            "decision": { "description": "What is decided.", "type": "string", "enum": Decision::NAMES },
            "comment": {
                "description": "What is said of it.",
                "type": ["string", "null"],
                "maxLength": COMMENT_LENGTH,
                "examples": ["As agreed."],
            },
        }),
    );
    decision["required"] = json!(["decision"]);
    decision["additionalProperties"] = json!(false);
    named(json!({
        "Answers": {
            "description": "Answers by the slug of their field, each in the form that the type of the field has. null or an \
                empty text takes an answer back; the cells of a table are merged.",
            "type": "object",
            "propertyNames": component("Slug"),
            "additionalProperties": { "examples": ["An answer"] },
        },
        "UploadFile": upload,
        "UploadAttachment": attachment,
        "DecideReviewTask": decision,
        "CreatePayment": body(
            "What a provider says of a payment.",
            json!({
                "provider": text("Who took it.", 255),
                "reference": text("What the provider calls it.", 255),
                "status": { "enum": TransactionStatus::NAMES },
                "amount": { "description": "How much it is, above 0.", "type": "number", "exclusiveMinimum": 0 },
                "date": component("Timestamp"),
            }),
            &["provider", "reference", "status", "amount", "date"],
        ),
        "CreateRefund": body(
            "What is given back of an order: `items` or an `amount`.",
            json!({
                "items": list("Lines of which all that is left is given back.", &slug()),
                "amount": { "description": "What is given back of all lines.", "type": "number", "exclusiveMinimum": 0 },
                "reason": text("Why.", 65_536),
            }),
            &["reason"],
        ),
        "UpdateTitle": object("A title.", json!({
            "title": text("The title.", TITLE_LENGTH),
        })),
        "UpdateAnswer": object("An answer.", json!({
            "value": {
                "description": "The answer, in the form that the type of the field has; null or an empty text takes it back.",
                "examples": ["An answer"],
            },
        })),
        "UpdateEntryCategory": object("A category.", json!({ "category": slug() })),
        "UpdateEntryChapter": object("A chapter.", json!({ "chapter": slug() })),
    }))
}

/// What an order would come to.
fn quote(entry: &Value, price: &Value) -> Value {
    let amounts = |names: &[&str]| {
        let number = |name: &&str| ((*name).to_owned(), json!({ "description": "In the currency.", "type": "number" }));
        let text = |name: &&str| ((*name).to_owned(), string("As it is written."));
        let formatted = object("The amounts as they are written.", Value::Object(names.iter().map(text).collect()));
        let mut members: Map<String, Value> = names.iter().map(number).collect();
        members.insert("formatted".to_owned(), formatted);
        members
    };
    let mut item = amounts(&["amount", "discount", "processing_fee", "tax", "total"]);
    item.extend(named(json!({
        "description": string("What it is for."),
        "entry": entry,
        "item_type": string("What kind of line it is."),
        "name": string("What it is called."),
        "price": price,
        "quantity": { "description": "How many.", "type": "integer" },
    })));
    let mut tax = amounts(&["base", "amount"]);
    tax.extend(named(json!({
        "term": string("What it is called."),
        "rate": { "description": "Its percentage.", "type": "number" },
        "reverse_charge": { "description": "Whether the buyer owes it.", "type": "boolean" },
    })));
    let mut quote = amounts(&["subtotal", "discounts", "processing_fee", "tax", "total"]);
    quote.extend(named(json!({
        "currency": string("The code of the currency, ISO 4217."),
        "discount_code": string("The code of the discount that is granted."),
        "items": list("The lines.", &object("A line.", Value::Object(item))),
        "taxes": list("The taxes that apply.", &object("A tax.", Value::Object(tax))),
    })));
    object("What an order would come to.", Value::Object(quote))
}

/// The members of a line of an order as it is billed.
fn billed_item() -> Map<String, Value> {
    let of_line = ["discount", "subtotal"];
    let of_order = |name: &str| {
        let members = orders::MEMBERS.iter().flat_map(|table| table.iter());
        members
            .filter(|member| member.name == name && !of_line.contains(&name))
            .map(|member| member.schema(Usage::Answer))
            .next()
    };
    let reference = |kind: &str| json!({ "anyOf": [component(kind), { "type": "null" }] });
    let own = |name: &str| match name {
        "category" | "chapter" | "parent_category" => reference("Reference"),
        "price" => reference("PriceReference"),
        "discount" => json!({ "description": "What is taken off.", "type": "number" }),
        "subtotal" => json!({ "description": "What the line costs before the discount.", "type": "number" }),
        "entry_name" => string("The title of the entry; empty where it is for none."),
        "entry_slug" => reference("Slug"),
        "type" => string("What kind of line it is."),
        _ => string("What it is for."),
    };
    let schema = |name: &&str| {
        let schema = if *name == "slug" { Some(slug()) } else { of_order(name) };
        ((*name).to_owned(), schema.unwrap_or_else(|| own(name)))
    };
    orders::ITEM_MEMBERS.iter().map(schema).collect()
}

/// The bodies of errors (specification, section 7).
fn errors() -> Map<String, Value> {
    let status =
        json!({ "description": "The status of the answer.", "type": "integer", "minimum": 400, "maximum": 599 });
    let envelope = json!({ "message": string("What is wrong."), "status_code": status });
    let with = |about: &str, errors: Value| {
        let mut schema = object(about, envelope.clone());
        schema["properties"]["errors"] = errors;
        schema
    };
    let names = string("The names of the filters that the list does not have, with commas between them.");
    let values = json!({
        "description": "What the values of a filter may be, by its name.",
        "type": "object",
        "additionalProperties": { "type": "string" },
    });
    let of_query = json!({
        "description": "What is wrong with the filters of a list.",
        "type": "object",
        "properties": { "invalid_filter_names": names, "invalid_filter_values": values },
    });
    let of_members = json!({
        "description": "What is wrong, by the path of the member. Items are counted from 1.",
        "type": "object",
        "additionalProperties": { "type": "array", "items": { "type": "string" } },
    });
    named(json!({
        "Error": object("Why a request was not done.", envelope.clone()),
        "QueryError": with("Why a request cannot be read.", of_query),
        "ValidationError": with(
            "Why a body was not taken. Where the state of the record does not permit the operation, there is no `errors`.",
            of_members,
        ),
        "Maintenance": object("What the operator says of the maintenance.", json!({ "status": string("A sentence.") })),
        "Unavailable": {
            "description": "The operator's text where the region is under maintenance, else why there is no room.",
            "anyOf": [component("Maintenance"), component("Error")],
        },
    }))
}

/// The headers of answers, by name.
pub(super) fn headers() -> Map<String, Value> {
    let header = |about: &str, kind: &str| json!({ "description": about, "schema": { "type": kind } });
    named(json!({
        "X-RateLimit-Limit": header("How many requests a minute the key has.", "integer"),
        "X-RateLimit-Remaining": header("How many of them are left.", "integer"),
        "X-RateLimit-Reset": header("When the minute ends, in seconds since 1970-01-01 UTC.", "integer"),
        "x-request-id": header("The identifier of the request, for the operator.", "string"),
        "ETag": header("The state of what is shown.", "string"),
        "Location": header("The address of what was made.", "string"),
        "Retry-After": header("After how many seconds to ask again.", "integer"),
    }))
}

/// The headers that requests may have, by the name of their component.
pub(super) fn parameters() -> Map<String, Value> {
    let header = |name: &str, about: &str| {
        let schema = json!({ "type": "string" });
        json!({ "name": name, "in": "header", "required": false, "description": about, "schema": schema })
    };
    let locales: Vec<&str> = Locale::ALL.iter().map(|locale| locale.code()).collect();
    let language = format!("^({0}|all)(,({0}|all))*$", locales.join("|"));
    let mut parameters = named(json!({
        "Language": header(
            "x-api-language",
            "The languages of texts, with commas between them, or `all`; left out, the account's default language.",
        ),
        "IfNoneMatch": header("If-None-Match", "An `ETag`; where it still holds, the answer is 304."),
        "IfMatch": header(
            "If-Match",
            "An `ETag`; where the record has changed since, the answer is 412 and nothing is done.",
        ),
        "IdempotencyKey": header(
            "Idempotency-Key",
            "A text of the caller's: the same request with it is done once, and answered the same for 24 hours.",
        ),
    }));
    parameters["Language"]["schema"]["pattern"] = json!(language);
    parameters["IdempotencyKey"]["schema"]["maxLength"] = json!(KEY_LENGTH);
    parameters
}

/// An answer that is an error: the name of its component, what it says, its schema, and one.
type Error = (&'static str, &'static str, &'static str, fn() -> ApiError);

/// The answers that are errors.
pub(super) const ERRORS: &[Error] = &[
    ("BadRequest", "The request cannot be read.", "QueryError", || {
        ApiError::InvalidQuery(ListQuery::parse(Some("colour=red&season="), &LIST.spec).err().unwrap_or_default())
    }),
    ("Unauthorized", "There is no key.", "Error", || ApiError::Unauthorized),
    ("Forbidden", "The key is not good here, or does not write.", "Error", || ApiError::KeyRefused),
    ("NotFound", "There is no such record.", "Error", || ApiError::NotFound),
    (
        "Conflict",
        "The first request with this `Idempotency-Key` is still running, or was done and its answer is not kept: then `Location` names what was done.",
        "Error",
        || ApiError::StillRunning,
    ),
    ("PreconditionFailed", "The record is not the one that `If-Match` names.", "Error", || {
        ApiError::PreconditionFailed
    }),
    ("TooLarge", "The body is too large.", "Error", || ApiError::TooLarge(1 << 20)),
    (
        "Unprocessable",
        "Members of the body are wrong, or the state of the record does not permit it.",
        "ValidationError",
        || {
            let mut violations = Violations::default();
            violations.add("title", "is required");
            ApiError::Invalid(violations)
        },
    ),
    ("TooManyRequests", "Too many requests.", "Error", || ApiError::RateLimited(17)),
    ("Fault", "A fault of the service.", "Error", || ApiError::Internal(String::new())),
    ("DiskFull", "A disk of the service is full, and nothing was changed.", "Error", || {
        ApiError::DiskFull(Disk::Database, String::new())
    }),
    (
        "Unavailable",
        "The region is under maintenance, or there is no room for the answer or the upload at present: then `Retry-After` says when to ask again.",
        "Unavailable",
        || ApiError::Maintenance("The service is back at 06:00 UTC.".to_owned()),
    ),
];
