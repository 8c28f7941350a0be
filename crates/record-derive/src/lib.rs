//! `#[derive(Record)]`: what is known of a record's members, said once, in its struct.
//!
//! - A field is a member of the record; its documentation is what the interface says of it. A field `slug` is the
//!   record's identifier and no member.
//! - `#[member(...)]` has what else there is to say: `name = "type"` where the member is called otherwise, its shape
//!   (`Integer(1, 10)`) where the type of the field does not tell it, `default = 1` where it may be left out, and the
//!   methods of `Member` that say when it is required, written in bodies and shown.
//! - `read = function` reads its value by a rule of its own; `with = module` has functions of the module read, change and
//!   write the member. `given(Type, function)` reads what a body says of it, which the rules of the kind put into the record. `flatten` takes in the members of a field that is such
//!   a struct itself; `references = function` gives what it refers to. `followed_by(...)` are members that answers alone
//!   have, in the place where they are described.
//! - `#[record(...)]` has what concerns the whole: `extra(...)`, members that are no fields; `check = function(a, b)`,
//!   which is given what was read of these fields, also where others are wrong; `changes = Name`, a struct of what
//!   the bodies of create and update say, and `settings`, which writes them as they stand; `rules(check, trash)`, the functions of `SetupRecord` that are not its own.
//!   `blank` is a function that makes a record of the members that must be there, as one that leaves out all others.
//! - A struct with a slug is the record of the kind of its name; one with a token, or with a slug of a type of its own, is
//!   known by that.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprAssign, ExprCall, ExprPath, Ident, LitStr, Meta, Result, Token,
};

/// Implements `RecordMembers` for a struct.
#[proc_macro_derive(Record, attributes(member, record))]
pub fn record(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    let expanded = Record::read(&input).map(|record| {
        let changes = record.changes.as_ref().map(|changes| record.changes(changes));
        let implementation = record.implementation();
        quote!(#implementation #changes)
    });
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// A field with what its attribute says.
struct Member<'f> {
    field: &'f Ident,
    kind: &'f syn::Type,
    constant: Ident,
    name: String,
    about: String,
    shape: Option<Expr>,
    default: Option<Expr>,
    read: Option<Expr>,
    with: Option<Expr>,
    given: Option<(Expr, Expr)>,
    references: Option<Expr>,
    followed_by: Vec<Expr>,
    calls: Vec<Expr>,
    visibility: &'f syn::Visibility,
}

impl<'f> Member<'f> {
    fn read(index: usize, field: &'f syn::Field) -> Result<Self> {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a member has a name"))?;
        let mut member = Self {
            field: name,
            kind: &field.ty,
            constant: format_ident!("MEMBER_{index}"),
            name: name.to_string(),
            about: documentation(&field.attrs),
            shape: None,
            default: None,
            read: None,
            with: None,
            given: None,
            references: None,
            followed_by: Vec::new(),
            calls: Vec::new(),
            visibility: &field.vis,
        };
        for item in items(&field.attrs, "member")? {
            if let Some((key, value)) = assigned(&item) {
                let value = value.clone();
                match key.to_string().as_str() {
                    "name" => member.name = text(&value)?,
                    "default" => member.default = Some(value),
                    "read" => member.read = Some(value),
                    "with" => member.with = Some(value),
                    "references" => member.references = Some(value),
                    _ => return Err(Error::new_spanned(key, "is unknown")),
                }
            } else if is_shape(&item) {
                member.shape = Some(item);
            } else if let Expr::Call(call) = &item
                && is_word(&call.func, "followed_by")
            {
                member.followed_by = call.args.iter().cloned().collect();
            } else if let Expr::Call(call) = &item
                && is_word(&call.func, "given")
            {
                let (kind, read) = call
                    .args
                    .first()
                    .zip(call.args.last())
                    .ok_or_else(|| Error::new_spanned(call, "names a type and a function"))?;
                member.given = Some((kind.clone(), read.clone()));
            } else {
                member.calls.push(item);
            }
        }
        Ok(member)
    }

    fn says(&self, word: &str) -> bool {
        self.calls.iter().any(|call| matches!(call, Expr::Path(path) if path.path.is_ident(word)))
    }

    fn is_in_bodies(&self) -> bool {
        ["to_create", "creatable", "updatable"].iter().any(|word| self.says(word))
    }

    /// The constant that describes it.
    fn described(&self) -> Tokens {
        let Self { constant, kind, name, about, .. } = self;
        let own = quote!(<#kind as MemberValue>::SHAPE);
        let shape = self.shape.as_ref().map_or(own, |shape| quote!(Shape::#shape));
        let presence = if self.says("required") { quote!(Required) } else { quote!(Optional) };
        let is_nullable = if self.with.is_some() { quote!(false) } else { quote!(<#kind as MemberValue>::IS_NULLABLE) };
        let calls =
            self.calls.iter().filter(|call| !matches!(call, Expr::Path(path) if path.path.is_ident("required")));
        let calls = calls.map(|call| match call {
            Expr::Path(path) => quote!(.#path()),
            call => quote!(.#call),
        });
        quote! {
            const #constant: Member = Member::new(#name, #shape, #about, Presence::#presence)
                .nullable_if(#is_nullable) #(#calls)*;
        }
    }

    /// Reads it, as what it is by default where it is left out or wrong.
    fn reading(&self) -> Tokens {
        let Self { field, kind, constant, .. } = self;
        if self.says("flatten") {
            return quote!(let #field = <#kind as RecordMembers>::read(members, slug, context););
        }
        let read = match (&self.with, &self.read) {
            (Some(with), _) => quote!(#with::read(members, context)),
            (None, Some(read)) => quote!(value::read_by::<#kind, _>(members, &#constant, context, #read)),
            (None, None) => quote!(value::read::<#kind>(members, &#constant, context)),
        };
        match &self.default {
            Some(default) => quote!(let #field: Option<#kind> = #read.or_else(|| Some(#default));),
            None if self.says("required") => quote!(let #field: Option<#kind> = #read;),
            None => quote!(let #field: Option<#kind> = #read.or_else(|| <#kind as MemberValue>::absent(context));),
        }
    }

    /// What a body says of it.
    fn reading_of_body(&self) -> Tokens {
        let Self { kind, constant, .. } = self;
        let read = match self {
            Self { given: Some((_, read)), .. } => {
                return quote!(value::read_given(members, &#constant, is_new, #read));
            }
            Self { with: Some(with), .. } => {
                return quote!(#constant.in_body(is_new).and_then(|_| #with::read(members, context)));
            }
            Self { read: Some(read), .. } => quote!(#read),
            _ => quote!(|json| <#kind as MemberValue>::read(json, #constant.body_shape(), context)),
        };
        quote!(value::read_body::<#kind, _>(members, &#constant, is_new, context, #read))
    }

    /// Puts what a body says into a record.
    fn changing(&self) -> Option<Tokens> {
        let Self { field, kind, .. } = self;
        let change = match self {
            Self { given: Some(_), .. } => return None,
            Self { with: Some(with), .. } => quote!(#with::change),
            _ => quote!(<#kind as MemberValue>::change),
        };
        Some(quote!(if let Some(changed) = self.#field { #change(&mut record.#field, changed); }))
    }

    fn writing(&self, value: &Tokens, texts: &Tokens) -> Tokens {
        let Self { kind, constant, .. } = self;
        match &self.with {
            _ if self.says("flatten") => quote!(<#kind as RecordMembers>::write(&#value, object);),
            Some(with) => quote!(#with::write(&#value, object, #texts);),
            None => quote!(<#kind as MemberValue>::write(&#value, &#constant, object, #texts);),
        }
    }

    fn referring(&self) -> Tokens {
        let Self { field, kind, constant, .. } = self;
        match (&self.references, &self.with) {
            _ if self.says("flatten") => quote!(found.extend(RecordMembers::references(&self.#field));),
            (Some(references), _) => quote!(found.extend(#references(&self.#field));),
            (None, Some(_)) => quote!(),
            (None, None) => quote!(<#kind as MemberValue>::references(&self.#field, &#constant, &mut found);),
        }
    }

    fn naming_files(&self) -> Tokens {
        let Self { field, kind, constant, .. } = self;
        if self.says("flatten") || self.with.is_some() {
            return quote!();
        }
        quote!(<#kind as MemberValue>::files(&self.#field, #constant.name, &mut found);)
    }
}

/// A struct with what its attribute says.
struct Record<'d> {
    name: &'d Ident,
    visibility: &'d syn::Visibility,
    /// The field that identifies it: its slug or its token.
    identifier: Option<&'d Ident>,
    /// The type of that field.
    key: Option<&'d syn::Type>,
    members: Vec<Member<'d>>,
    extra: Vec<Expr>,
    rules: Vec<Expr>,
    has_blank: bool,
    check: Option<ExprCall>,
    changes: Option<Ident>,
    has_settings: bool,
}

impl<'d> Record<'d> {
    fn read(input: &'d DeriveInput) -> Result<Self> {
        let Data::Struct(structure) = &input.data else {
            return Err(Error::new_spanned(input, "a record is a struct"));
        };
        let is_key = |field: &&syn::Field| field.ident.as_ref().is_some_and(|name| name == "slug" || name == "token");
        let key = structure.fields.iter().find(is_key);
        let identifier = key.and_then(|field| field.ident.as_ref());
        let fields = structure.fields.iter().filter(|field| field.ident.as_ref() != identifier).enumerate();
        let mut record = Self {
            name: &input.ident,
            visibility: &input.vis,
            identifier,
            key: key.map(|field| &field.ty),
            members: fields.map(|(index, field)| Member::read(index, field)).collect::<Result<_>>()?,
            extra: Vec::new(),
            rules: Vec::new(),
            has_blank: false,
            check: None,
            changes: None,
            has_settings: false,
        };
        for item in items(&input.attrs, "record")? {
            match (assigned(&item), &item) {
                (Some((key, Expr::Path(name))), _) if key == "changes" => {
                    record.changes = name.path.get_ident().cloned();
                }
                (_, Expr::Call(call)) if is_word(&call.func, "extra") => {
                    record.extra = call.args.iter().cloned().collect();
                }
                (_, item) if is_word(item, "blank") => record.has_blank = true,
                (_, item) if is_word(item, "settings") => record.has_settings = true,
                (_, Expr::Call(call)) if is_word(&call.func, "rules") => {
                    record.rules = call.args.iter().cloned().collect();
                }
                (Some((key, Expr::Call(call))), _) if key == "check" => record.check = Some(call.clone()),
                (_, item) => return Err(Error::new_spanned(item, "is unknown")),
            }
        }
        Ok(record)
    }

    fn implementation(&self) -> Tokens {
        let Self { name: record, members, extra, .. } = self;
        let described = members.iter().filter(|member| !member.says("flatten")).map(Member::described);
        let tables = members.iter().map(|member| match member {
            Member { kind, .. } if member.says("flatten") => quote!(<#kind as RecordMembers>::MEMBERS),
            Member { constant, followed_by, .. } => quote!(&[#constant, #(#followed_by),*]),
        });
        let reading = members.iter().map(Member::reading);
        let names = members.iter().map(|member| member.field);
        let identifier = self.identifier;
        let own = identifier.iter();
        let key = if identifier.is_some_and(|name| name == "token") { quote!(token) } else { quote!(slug) };
        let key_type = self.key.map_or_else(|| quote!(Slug), |key| quote!(#key));
        let pass_over = (!extra.is_empty()).then(|| quote!(value::pass_over(members, EXTRA, slug);));
        let check = self.checking();
        let writing = members.iter().map(|member| {
            let field = member.field;
            member.writing(&quote!(self.#field), &quote!(Texts::Whole))
        });
        let referring = members.iter().map(Member::referring);
        let naming_files = members.iter().map(Member::naming_files);
        let blank = self.has_blank.then(|| self.blank());
        let is_slug = |key: &&syn::Type| matches!(key, syn::Type::Path(path) if path.path.is_ident("Slug"));
        let setup_record = self.key.filter(is_slug).map(|_| self.setup_record());
        let stored_record = identifier.map(|name| self.stored_record(name));
        quote! {
            const _: () = {
                use crate::program::member::{self, Member, Presence, Shape};
                use crate::program::value::{self, MemberValue, RecordMembers, Texts};
                use kernel::text::{Slug, Translated};
                #(#described)*
                const EXTRA: &[Member] = &[#(#extra),*];
                const TABLES: &[&[Member]] = &[#(#tables,)* EXTRA];
                const ALL: [Member; member::count(TABLES)] = member::joined(TABLES);

                impl RecordMembers for #record {
                    type Key = #key_type;

                    const MEMBERS: &'static [Member] = &ALL;

                    fn read(
                        members: &mut kernel::input::Members<'_>,
                        #key: Self::Key,
                        context: &crate::program::Context,
                    ) -> Option<Self> {
                        #pass_over
                        #(#reading)*
                        #check
                        Some(Self { #(#own,)* #(#names: #names?),* })
                    }

                    fn write(&self, object: &mut kernel::document::Object<'_>) {
                        #(#writing)*
                    }

                    fn references(&self) -> Vec<(&'static str, kernel::kind::Kind, Slug)> {
                        let mut found = Vec::new();
                        #(#referring)*
                        found
                    }

                    fn files(&self) -> Vec<(&'static str, &kernel::text::Token)> {
                        let mut found = Vec::new();
                        #(#naming_files)*
                        found
                    }
                }

                #stored_record
                #setup_record
                #blank
            };
        }
    }

    /// Makes a record that states only what it must.
    fn blank(&self) -> Tokens {
        let record = self.name;
        let (required, others): (Vec<_>, Vec<_>) = self.members.iter().partition(|member| member.says("required"));
        let given = required.iter().map(|Member { field, kind, .. }| quote!(#field: #kind));
        let known = required.iter().map(|Member { field, .. }| quote!(let #field = Some(#field);));
        let reading = others.iter().map(|member| member.reading());
        let names = self.members.iter().map(|member| member.field);
        quote! {
            impl #record {
                /// The record of this slug and of the members that must be there, which leaves out all others.
                #[allow(clippy::too_many_arguments, reason = "one for each member that must be there")]
                pub(crate) fn blank(slug: Slug, #(#given,)* context: &crate::program::Context) -> Option<Self> {
                    let nothing = kernel::json::Object::default();
                    let members = &mut kernel::input::Members::closed(&nothing);
                    #(#known)*
                    #(#reading)*
                    Some(Self { slug, #(#names: #names?),* })
                }
            }
        }
    }

    /// Checks what was read of some fields together.
    fn checking(&self) -> Option<Tokens> {
        let ExprCall { func, args, .. } = self.check.as_ref()?;
        let read = args.iter().map(|field| match self.identifier {
            Some(name) if is_word(field, "slug") => quote!(#name),
            Some(name) if is_word(field, "token") => quote!(&#name),
            _ => quote!(#field.as_ref()),
        });
        Some(quote!(#func(members, #(#read),*);))
    }

    fn stored_record(&self, key: &Ident) -> Tokens {
        let record = self.name;
        quote! {
            impl crate::program::StoredRecord for #record {
                const KIND: kernel::kind::Kind = kernel::kind::Kind::#record;

                fn key(&self) -> &Self::Key {
                    &self.#key
                }
            }
        }
    }

    fn setup_record(&self) -> Tokens {
        let record = self.name;
        let rules = self.rules.iter().map(|rule| match rule {
            rule if is_word(rule, "check") => quote! {
                fn check(&self, program: &crate::program::Program) -> kernel::input::Violations {
                    rules::check(self, program)
                }
            },
            rule => quote! {
                fn #rule(&self, program: &crate::program::Program) -> Result<(), String> {
                    rules::#rule(program, self.slug)
                }
            },
        });
        let name = self.members.iter().find(|member| member.says("is_name")).map(|member| {
            let field = member.field;
            quote! {
                fn name(&self) -> Option<&Translated> {
                    Some(&self.#field)
                }
            }
        });
        quote! {
            impl crate::program::SetupRecord for #record {
                #name
                #(#rules)*
            }
        }
    }

    /// The struct of what bodies say: of each member that is in one what it shall be, nothing where it was left out or is wrong.
    fn changes(&self, changes: &Ident) -> Tokens {
        let Self { name: record, visibility, .. } = self;
        let members: Vec<_> = self.members.iter().filter(|member| member.is_in_bodies()).collect();
        let (texts, others): (Vec<_>, Vec<_>) = members.iter().copied().partition(|member| member.says("text"));
        let consts = members.iter().map(|member| member.described());
        let about = format!(
            "What a body says of a {}: what is `None` was left out, or is wrong.",
            record.to_string().to_lowercase()
        );
        let fields = members.iter().map(|Member { field, kind, given, about, visibility, .. }| {
            let kind = given.as_ref().map_or_else(|| quote!(#kind), |(kind, _)| quote!(#kind));
            quote!(#[doc = #about] #visibility #field: Option<#kind>,)
        });
        let names: Vec<_> = members.iter().map(|member| member.field).collect();
        let other_names = others.iter().map(|member| member.field);
        let other_reads = others.iter().map(|member| member.reading_of_body());
        let text_names: Vec<_> = texts.iter().map(|member| member.field).collect();
        let text_reads = texts.iter().map(|member| member.reading_of_body());
        let text_constants = texts.iter().map(|member| &member.constant);
        let texts_read = (!texts.is_empty()).then(|| {
            quote! {
                value::check_texts(members, &[#(&#text_constants),*], is_new);
                let texts = members.object("translated", |members| (#(#text_reads,)*));
                let (#(#text_names,)*) = texts.unwrap_or_default();
            }
        });
        let changing = members.iter().filter_map(|member| member.changing());
        let settings = self.has_settings.then(|| self.settings(&others, &texts));
        quote! {
            #[doc = #about]
            #[derive(Clone, Debug, Default, PartialEq, Eq)]
            #[allow(clippy::option_option, reason = "what is stated to be null is not what is left out")]
            #visibility struct #changes { #(#fields)* }

            const _: () = {
                use crate::program::member::{Member, Presence, Shape};
                use crate::program::value::{self, MemberValue, Texts};
                #(#consts)*

                impl #changes {
                    /// Reads the body that makes a record, or the one that changes it, with everything that is wrong with it.
                    #[must_use]
                    #visibility fn read(
                        body: &kernel::json::Object<'_>,
                        is_new: bool,
                        context: &crate::program::Context,
                    ) -> (Self, kernel::input::Violations) {
                        let mut members = kernel::input::Members::closed(body);
                        let read = Self::read_from(&mut members, is_new, context);
                        (read, members.finish())
                    }

                    /// Reads the members of such a body; what is wrong is left in `members`.
                    #visibility fn read_from(
                        members: &mut kernel::input::Members<'_>,
                        is_new: bool,
                        context: &crate::program::Context,
                    ) -> Self {
                        #(let #other_names = #other_reads;)*
                        #texts_read
                        Self { #(#names),* }
                    }

                    /// Puts what it says into a record; a locale that a text leaves out keeps its own.
                    #visibility fn apply(self, record: &mut #record) {
                        #(#changing)*
                    }
                }

                #settings
            };
        }
    }

    /// Writes what bodies say of a record as it stands.
    fn settings(&self, others: &[&Member<'_>], texts: &[&Member<'_>]) -> Tokens {
        let record = self.name;
        let write = |member: &&Member<'_>| {
            let field = member.field;
            member.writing(&quote!(record.#field), &quote!(Texts::AsAsked))
        };
        let (text_writes, other_writes) = (texts.iter().map(write), others.iter().map(write));
        quote! {
            impl #record {
                /// Writes the members of create and update as they stand (contract, section 5).
                pub(crate) fn write_settings(record: &Self, object: &mut kernel::document::Object<'_>) {
                    #(#other_writes)*
                    object.object("translated", |object| { #(#text_writes)* });
                }
            }
        }
    }
}

/// The items of the attributes of this name.
fn items(attributes: &[Attribute], name: &str) -> Result<Vec<Expr>> {
    let mut found = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        found.extend(attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated)?);
    }
    Ok(found)
}

/// The documentation, its lines joined.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value).ok(),
        _ => None,
    });
    // What is code to a reader of the source is plain text in a schema.
    lines.map(|line| line.trim().replace('`', "")).collect::<Vec<_>>().join(" ")
}

fn assigned(item: &Expr) -> Option<(&Ident, &Expr)> {
    let Expr::Assign(ExprAssign { left, right, .. }) = item else { return None };
    let Expr::Path(ExprPath { path, .. }) = &**left else { return None };
    Some((path.get_ident()?, right))
}

fn text(value: &Expr) -> Result<String> {
    syn::parse2::<LitStr>(quote!(#value)).map(|text| text.value())
}

fn is_word(item: &Expr, word: &str) -> bool {
    matches!(item, Expr::Path(path) if path.path.is_ident(word))
}

/// Whether it is a shape, whose name begins with a capital letter.
fn is_shape(item: &Expr) -> bool {
    let path = match item {
        Expr::Call(ExprCall { func, .. }) => func,
        item => item,
    };
    let Expr::Path(ExprPath { path, .. }) = path else { return false };
    let first = path.segments.first().map(|segment| segment.ident.to_string());
    first.is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_uppercase()))
}
