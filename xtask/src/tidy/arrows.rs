//! The order of folders: each imports only what stands above it.
//!
//! - A folder is a module with files of its own, and every module beside the server's `lib.rs`, which declares them in order.
//! - The files that stand in a folder itself belong to it and may use its folders, as these may use what it offers. A name
//!   that a folder passes on from one of its folders is an import from that one.

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

/// Where the server's own modules are declared, in their order.
const SERVER: &str = "crates/plaudit";

/// Prints the folders of each folder in order, and tells the imports of those that import each other in a circle, or what is
/// declared below them.
pub(super) fn order(tree: &Tree, findings: &mut Findings) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in tree.shipped() {
        if let Some((root, _)) = source.path.split_once("/src/") {
            crates.entry(root).or_default().push(source);
        }
    }
    for (root, sources) in crates {
        let folders = folders(root, &sources);
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
            if root == SERVER && parent.is_empty() {
                let declared = declared(&sources);
                let place = |name: &String| declared.iter().position(|other| other == name);
                for arrow in here.iter().filter(|arrow| place(&arrow.from) < place(&arrow.to)) {
                    let message = format!("`{}` imports `{}`, which stands below it in lib.rs", arrow.from, arrow.to);
                    findings.violation(arrow.source, arrow.source.line(arrow.path.position), message);
                }
            }
        }
    }
}

/// The modules that `lib.rs` declares, in its order.
fn declared(sources: &[&Source]) -> Vec<String> {
    let lib = sources.iter().find(|source| source.path.ends_with("/src/lib.rs"));
    let lines = lib.into_iter().flat_map(|lib| lib.code.lines());
    lines.filter_map(|line| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned())).collect()
}

/// The folders in each folder, by its path within the crate.
fn folders(root: &str, sources: &[&Source]) -> BTreeMap<Vec<String>, BTreeSet<String>> {
    let mut folders: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let parts = Module::of(&source.path).into_parts();
        for depth in 0..parts.len() {
            let is_folder = depth == 0 && root == SERVER || depth + 1 < parts.len() || source.path.ends_with("/mod.rs");
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
    let passed_on = passed_on(sources);
    for &source in sources {
        let module = Module::of(&source.path);
        let own = paths::used(source).into_iter().filter(|path| !source.in_unit_tests(path.position));
        for path in own.filter(UsedPath::is_in_this_crate) {
            let (from, to) = (module.parts(), path.resolved(&module));
            let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) else { continue };
            let parent = &from[..shared];
            let other = passed_on.get(&to[..=shared]).unwrap_or(other);
            let are_folders = |children: &BTreeSet<String>| children.contains(one) && children.contains(other);
            if one != other && folders.get(parent).is_some_and(are_folders) {
                let arrow = Arrow { from: one.clone(), to: other.clone(), source, path };
                arrows.entry(parent.to_vec()).or_default().push(arrow);
            }
        }
    }
    arrows
}

/// The names that modules have from modules in them, each by its path, with the module that it comes from.
fn passed_on(sources: &[&Source]) -> BTreeMap<Vec<String>, String> {
    let mut names = BTreeMap::new();
    for source in sources {
        let module = Module::of(&source.path);
        for path in paths::used(source).iter().filter(|path| !source.in_unit_tests(path.position)) {
            // A module names what stands in it with or without `self`.
            let written = path.resolved(&module);
            let own = if path.is_in_this_crate() { written } else { [module.parts(), &written].concat() };
            let (Some(child), Some(name)) = (own.get(module.parts().len()), own.last()) else { continue };
            if own.starts_with(module.parts()) && own.len() > module.parts().len() + 1 {
                names.insert([module.parts(), std::slice::from_ref(name)].concat(), child.clone());
            }
        }
    }
    names
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
    fn what_stands_below_in_lib_rs_is_not_imported() {
        let files = |lib| [file("lib.rs", lib), file("a.rs", "use crate::b::B;"), file("b.rs", "")];
        assert!(of(&files("pub mod b;\n\npub mod a;")).violations.is_empty());
        assert_eq!(of(&files("pub mod a;\n\npub mod b;")).violations.len(), 1);
    }

    #[test]
    fn a_name_that_is_passed_on_is_an_import_of_where_it_comes_from() {
        let files = [
            file("p/mod.rs", "pub use x::inner::{X, Z}; pub use self::y::Y;"),
            file("p/x/mod.rs", "use super::Y;"),
            file("p/y/mod.rs", "use crate::p::X;"),
        ];
        assert_eq!(of(&files).violations.len(), 2);
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
