//! The paths that a file uses, and what they lead to.

use std::ops::Range;

use super::source::{Source, after_closing, is_name_byte};

/// A path as it is written, with a tree of imports taken apart.
pub(super) struct UsedPath {
    pub(super) position: usize,
    pub(super) text: String,
}

/// Where a file stands in the tree of modules.
pub(super) struct Module(Vec<String>);

impl Module {
    /// The module that a file of a crate holds.
    pub(super) fn of(path: &str) -> Self {
        let below = path.split_once("/src/").map_or(path, |(_, below)| below).trim_end_matches(".rs");
        let mut parts: Vec<String> = below.split('/').map(str::to_owned).collect();
        if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            parts.pop();
        }
        Self(parts)
    }

    /// The names of the modules on the way to it.
    pub(super) fn parts(&self) -> &[String] {
        &self.0
    }

    pub(super) fn into_parts(self) -> Vec<String> {
        self.0
    }
}

impl UsedPath {
    /// Whether it begins at the crate or at the module it stands in.
    pub(super) fn is_in_this_crate(&self) -> bool {
        ["crate", "super", "self"].contains(&self.text.split("::").next().unwrap_or_default())
    }

    /// The parts of the path from the root of the crate, or from the name of another crate.
    pub(super) fn resolved(&self, module: &Module) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for (index, part) in self.text.split("::").filter(|part| !part.is_empty()).enumerate() {
            if index == 0 && matches!(part, "super" | "self") {
                parts.clone_from(&module.0);
            }
            match part {
                "super" => drop(parts.pop()),
                "self" | "crate" => {}
                name => parts.push(name.to_owned()),
            }
        }
        parts
    }
}

/// Every path that a file imports, and every path of more than one part in its code.
pub(super) fn used(source: &Source) -> Vec<UsedPath> {
    let mut found = Vec::new();
    let imports = imports(source);
    for import in &imports {
        let mut texts = Vec::new();
        expand("", source.code[import.clone()].trim_start_matches("use"), &mut texts);
        found.extend(texts.into_iter().map(|text| UsedPath { position: import.start, text }));
    }
    let inline = inline(&source.code).into_iter();
    found.extend(inline.filter(|path| !imports.iter().any(|import| import.contains(&path.position))));
    found
}

fn imports(source: &Source) -> Vec<Range<usize>> {
    let starts = source.words("use").into_iter();
    starts.filter_map(|start| source.code[start..].find(';').map(|length| start..start + length)).collect()
}

/// Takes `a::{b, c::{d, e}}` apart into `a::b`, `a::c::d` and `a::c::e`.
fn expand(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let close = after_closing(tree, open);
        let prefix = format!("{prefix}{}", tree[..open].trim());
        for item in split(&tree[open + 1..close.saturating_sub(1).max(open + 1)]) {
            expand(&prefix, item, found);
        }
    } else if !tree.is_empty() {
        let name = tree.split_whitespace().next().unwrap_or_default();
        found.push(format!("{prefix}{name}"));
    }
}

/// Splits at the commas that are not inside brackets.
pub(super) fn split(list: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    let bytes = list.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            // The arrow of a function type closes nothing.
            b'>' if index > 0 && bytes[index - 1] == b'-' => {}
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                items.push(&list[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect()
}

fn inline(code: &str) -> Vec<UsedPath> {
    let mut found = Vec::new();
    let mut end_of_last = 0;
    for (separator, _) in code.match_indices("::") {
        if separator < end_of_last {
            continue;
        }
        let start = code[..separator].bytes().rposition(|byte| !is_name_byte(byte)).map_or(0, |before| before + 1);
        let length = code[start..].bytes().position(|byte| !is_name_byte(byte) && byte != b':');
        end_of_last = length.map_or(code.len(), |length| start + length);
        found.push(UsedPath { position: start, text: code[start..end_of_last].trim_end_matches(':').to_owned() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_imports_is_taken_apart() {
        let mut found = Vec::new();
        expand("", "crate::{a::B, c::{d as e, *}, f}", &mut found);
        assert_eq!(found, ["crate::a::B", "crate::c::d", "crate::c::*", "crate::f"]);
    }

    #[test]
    fn a_path_is_resolved_from_its_module() {
        let module = Module::of("crates/plaudit/src/program/chapters/api.rs");
        let resolved = |text: &str| UsedPath { position: 0, text: text.to_owned() }.resolved(&module).join("::");
        assert_eq!(resolved("super::store::find"), "program::chapters::store::find");
        assert_eq!(resolved("super::super::seasons"), "program::seasons");
        assert_eq!(resolved("crate::text::Slug"), "text::Slug");
        assert_eq!(resolved("self::inner"), "program::chapters::api::inner");
        assert_eq!(resolved("axum::Json"), "axum::Json");
        assert!(Module::of("crates/plaudit/src/lib.rs").0.is_empty());
        assert_eq!(Module::of("crates/plaudit/src/log/mod.rs").0, ["log"]);
    }

    #[test]
    fn a_list_is_split_at_its_own_commas() {
        assert_eq!(split("a: A<B, C>, f: impl Fn(D, E) -> F, g: G,"), ["a: A<B, C>", "f: impl Fn(D, E) -> F", "g: G"]);
    }
}
