//! The order of folders: each imports only what stands above it.
//!
//! In a crate every module beside `lib.rs` counts as a folder; further down those modules do that are folders. The files
//! that stand in a folder itself belong to it and may use its folders, as these may use what it offers.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::paths::{self, Module, UsedPath};
use super::source::Source;
use super::tree::Tree;

/// An import from one folder into another, where it stands.
struct Arrow<'t> {
    from: String,
    to: String,
    source: &'t Source,
    path: UsedPath,
}

/// Prints the folders of each folder in order, and tells the imports of those that import each other in a circle.
pub(super) fn order(tree: &Tree, findings: &mut Findings) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in tree.shipped() {
        if let Some((root, _)) = source.path.split_once("/src/") {
            crates.entry(root).or_default().push(source);
        }
    }
    for (root, sources) in crates {
        let folders = folders(&sources);
        let mut arrows = arrows(&sources, &folders);
        for (parent, children) in &folders {
            let here = arrows.remove(parent).unwrap_or_default();
            let (ordered, in_circles) = sorted(children, &here);
            if ordered.len() > 1 {
                let place = if parent.is_empty() { root.to_owned() } else { format!("{root}: {}", parent.join("/")) };
                findings.notes.push(format!("order of {place}: {}", ordered.join(" ")));
            }
            for arrow in here.iter().filter(|arrow| in_circles.contains(&arrow.from) && in_circles.contains(&arrow.to))
            {
                let message = format!("`{}` imports `{}` in a circle: `{}`", arrow.from, arrow.to, arrow.path.text);
                findings.violation(arrow.source, arrow.source.line(arrow.path.position), message);
            }
        }
    }
}

/// The folders in each folder, by its path within the crate.
fn folders(sources: &[&Source]) -> BTreeMap<Vec<String>, BTreeSet<String>> {
    let mut folders: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let parts = Module::of(&source.path).into_parts();
        for depth in 0..parts.len() {
            let is_folder = depth == 0 || depth + 1 < parts.len() || source.path.ends_with("/mod.rs");
            if is_folder && parts[depth] != "tests" {
                folders.entry(parts[..depth].to_vec()).or_default().insert(parts[depth].clone());
            }
        }
    }
    folders
}

/// The imports between the folders of each folder, but those of tests.
fn arrows<'t>(
    sources: &[&'t Source],
    folders: &BTreeMap<Vec<String>, BTreeSet<String>>,
) -> BTreeMap<Vec<String>, Vec<Arrow<'t>>> {
    let mut arrows: BTreeMap<Vec<String>, Vec<Arrow<'t>>> = BTreeMap::new();
    for &source in sources {
        let module = Module::of(&source.path);
        let own = paths::used(source).into_iter().filter(|path| !source.in_unit_tests(path.position));
        for path in own.filter(UsedPath::is_in_this_crate) {
            let (from, to) = (module.parts(), path.resolved(&module));
            let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) else { continue };
            let parent = &from[..shared];
            if folders.get(parent).is_some_and(|children| children.contains(one) && children.contains(other)) {
                let arrow = Arrow { from: one.clone(), to: other.clone(), source, path };
                arrows.entry(parent.to_vec()).or_default().push(arrow);
            }
        }
    }
    arrows
}

/// The folders, each after those that it imports, and those that no order can have because they stand in a circle.
fn sorted(children: &BTreeSet<String>, arrows: &[Arrow<'_>]) -> (Vec<String>, BTreeSet<String>) {
    let (mut ordered, mut left) = (Vec::new(), children.clone());
    loop {
        let imports = |folder: &String| arrows.iter().any(|arrow| arrow.from == *folder && left.contains(&arrow.to));
        let Some(next) = left.iter().find(|folder| !imports(folder)).cloned() else { break };
        left.remove(&next);
        ordered.push(next);
    }
    // What only imports a circle is in none.
    loop {
        let is_imported =
            |folder: &String| arrows.iter().any(|arrow| arrow.to == *folder && left.contains(&arrow.from));
        let Some(last) = left.iter().find(|folder| !is_imported(folder)).cloned() else { break };
        left.remove(&last);
    }
    (ordered, left)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn file(path: &str, text: &'static str) -> (String, &'static str) {
        (format!("crates/plaudit/src/{path}"), text)
    }

    fn of(files: &[(String, &'static str)]) -> Findings {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        found(order, &files)
    }

    #[test]
    fn folders_are_ordered_by_what_they_import() {
        let above =
            of(&[file("a/mod.rs", "use crate::{b::B, c};"), file("b.rs", "use crate::c::C;"), file("c.rs", "")]);
        assert_eq!((above.violations.len(), above.notes), (0, vec!["order of crates/plaudit: c b a".to_owned()]));
    }

    #[test]
    fn each_import_of_a_circle_is_found_and_none_beside_it() {
        let circle =
            [file("a.rs", "use crate::b::B;"), file("b.rs", "fn f() { crate::a::g() }"), file("c.rs", "use crate::a;")];
        let found = of(&circle);
        assert_eq!(found.violations.len(), 2, "{:?}", found.violations);
    }

    #[test]
    fn nested_folders_are_ordered_and_the_files_beside_them_are_not() {
        let nested = [
            file("p/mod.rs", "use self::x::X;"),
            file("p/x/mod.rs", "use super::y::Y; use super::z;"),
            file("p/y/mod.rs", "use crate::p::x::X;"),
            file("p/z.rs", "use super::x::X;"),
        ];
        assert_eq!(of(&nested).violations.len(), 2);
        let tests = [file("a.rs", "#[cfg(test)]\nmod tests {\nuse crate::b;\n}"), file("b.rs", "use crate::a::A;")];
        assert!(of(&tests).violations.is_empty());
    }
}
