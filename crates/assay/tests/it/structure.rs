//! No file of the program imports from another one that, by itself or by further files, imports from it.
//!
//! Read are `use` and paths that begin with `crate`, `super` or `self`, without what is compiled for tests alone and without
//! re-exports of `mod.rs` and `lib.rs`: who imports by those imports from the file that they name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Re-exports that are followed from one file to the next.
const DEEPEST: u32 = 8;

/// A path of modules and names.
type Names = Vec<String>;

/// One file of a crate.
struct Source {
    path: PathBuf,
    module: Names,
    /// Without comments, strings and tests.
    text: String,
    /// What it re-exports: by which name, and the path as it stands there.
    exports: Vec<(String, Names)>,
    /// What it imports, as it stands there.
    imports: Vec<Names>,
}

/// The files of a crate, and those that a module may be: one, or one for each system.
#[derive(Default)]
struct Crate {
    files: Vec<Source>,
    modules: BTreeMap<Names, Vec<usize>>,
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut found = Self::default();
        let mut tests: Vec<Names> = Vec::new();
        let mut others: Vec<(Names, PathBuf)> = Vec::new();
        for path in files_below(src) {
            let raw = fs::read_to_string(&path).unwrap();
            let mut module: Names = path.with_extension("").strip_prefix(src).unwrap().iter().map(shown).collect();
            let facade = module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            if facade {
                module.pop();
            }
            for (name, file) in paths_of_modules(&raw) {
                let below = module.iter().cloned().chain([name]).collect();
                others.push((below, path.parent().unwrap().join(file).canonicalize().unwrap()));
            }
            let (text, left_out) = without_tests(&bare(&raw));
            tests.extend(modules_in(&left_out).map(|name| module.iter().cloned().chain([name]).collect()));
            let (uses, rest) = uses(&text);
            let public = uses.iter().filter(|(public, _)| *public);
            let exports = public.flat_map(|(_, tree)| expanded(tree)).collect();
            let own = uses.iter().filter(|(public, _)| !(facade && *public));
            let mut imports: Vec<Names> = own.flat_map(|(_, tree)| expanded(tree)).map(|(_, path)| path).collect();
            imports.extend(paths_in(&rest));
            found.modules.entry(module.clone()).or_default().push(found.files.len());
            found.files.push(Source { path: path.canonicalize().unwrap(), module, text, exports, imports });
        }
        for (module, file) in others {
            // Some are shared with tests, and lie there.
            if let Some(at) = found.files.iter().position(|source| source.path == file) {
                found.modules.entry(module).or_default().push(at);
            }
        }
        let of_tests = |module: &Names| {
            tests.iter().any(|test| module.starts_with(test)) || module.iter().any(|name| name.ends_with("tests"))
        };
        for source in found.files.iter_mut().filter(|source| of_tests(&source.module)) {
            source.imports.clear();
        }
        found
    }

    /// The files that a path names which stands in a module.
    fn named(&self, module: &Names, path: &[String], depth: u32) -> Vec<usize> {
        let mut at = module.clone();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("crate") => (at, rest) = (Vec::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            Some(child) if self.modules.contains_key(&below(&at, child)) => {}
            _ => return Vec::new(),
        }
        while let Some(child) = rest.first().filter(|name| self.modules.contains_key(&below(&at, name))) {
            at = below(&at, child);
            rest = &rest[1..];
        }
        let Some(files) = self.modules.get(&at) else { return Vec::new() };
        let Some(name) = rest.first().filter(|_| depth < DEEPEST) else { return files.clone() };
        let mut through: Vec<usize> = Vec::new();
        for (exported, path) in files.iter().flat_map(|file| &self.files[*file].exports) {
            if exported == name {
                let whole: Names = path.iter().chain(&rest[1..]).cloned().collect();
                through.extend(self.named(&at, &whole, depth + 1));
            } else if exported == "*" {
                let whole: Names = path[..path.len() - 1].iter().chain([name]).cloned().collect();
                let of = self.named(&at, &whole, depth + 1);
                through.extend(of.into_iter().filter(|file| defines(&self.files[*file].text, name)));
            }
        }
        if through.is_empty() { files.clone() } else { through }
    }

    /// For each file those that it imports from.
    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let of = |(at, source): (usize, &Source)| {
            let imports = source.imports.iter().flat_map(|path| self.named(&source.module, path, 0));
            imports.filter(|file| *file != at).collect()
        };
        self.files.iter().enumerate().map(of).collect()
    }
}

/// Circles of files, each told once, from its first file on.
fn circles(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for first in 0..edges.len() {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([first]);
        while let Some(at) = waiting.pop_front() {
            if edges[at].contains(&first) {
                let mut circle = vec![at];
                while let Some(previous) = before.get(&circle[circle.len() - 1]) {
                    circle.push(*previous);
                }
                circle.reverse();
                found.push(circle);
                break;
            }
            for next in edges[at].iter().filter(|next| **next > first) {
                if !before.contains_key(next) {
                    before.insert(*next, at);
                    waiting.push_back(*next);
                }
            }
        }
    }
    found
}

fn below(module: &Names, child: &str) -> Names {
    module.iter().cloned().chain([child.to_owned()]).collect()
}

fn shown(part: &std::ffi::OsStr) -> String {
    part.to_str().unwrap().to_owned()
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Without comments and what strings hold.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                end
            });
            end.map_or(rest.len(), |end| end + 2)
        } else {
            bare.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    bare
}

/// Without items that are compiled for tests alone, and these.
fn without_tests(text: &str) -> (String, String) {
    let (mut kept, mut left_out, mut rest) = (String::new(), String::new(), text);
    while let Some(at) = ["#[cfg(test", "#[cfg(all(test"].iter().filter_map(|cfg| rest.find(cfg)).min() {
        kept.push_str(&rest[..at]);
        let item = rest[at..].find(']').map_or(rest.len(), |end| at + end + 1);
        let mut depth = 0;
        let end = rest[item..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0 && (c == ';' || c == '}')
        });
        let end = end.map_or(rest.len(), |end| item + end + 1);
        left_out.push_str(&rest[item..end]);
        rest = &rest[end..];
    }
    kept.push_str(rest);
    (kept, left_out)
}

/// Modules that are declared, in a file of their own.
fn modules_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().filter_map(|line| {
        let name = line.trim().strip_suffix(';')?.rsplit_once("mod ")?.1;
        name.chars().all(is_name).then(|| name.to_owned())
    })
}

/// Modules whose file is named by `path`, with all files that it may be.
fn paths_of_modules(raw: &str) -> Vec<(String, String)> {
    let (mut found, mut files): (Vec<(String, String)>, Vec<String>) = (Vec::new(), Vec::new());
    for line in raw.lines() {
        if let Some((_, file)) = line.split_once("path = \"") {
            files.extend(file.split_once('"').map(|(file, _)| file.to_owned()));
        }
        if line.ends_with(';') || line.is_empty() {
            let named = modules_in(line).next();
            found.extend(named.iter().flat_map(|name| files.iter().map(|file| (name.clone(), file.clone()))));
            files.clear();
        }
    }
    found
}

/// What `use` names, each with whether it is a re-export, and the text without them.
fn uses(text: &str) -> (Vec<(bool, String)>, String) {
    let (mut found, mut rest): (Vec<(bool, String)>, String) = (Vec::new(), String::new());
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        let (public, tree) = match open.take() {
            Some((public, begun)) => (public, Some(begun + line)),
            None => {
                let line = line.trim_start();
                let of_public = line.strip_prefix("pub").map(|line| match line.strip_prefix('(') {
                    Some(line) => line.split_once(')').map_or("", |(_, line)| line),
                    None => line,
                });
                let tree = of_public.unwrap_or(line).trim_start().strip_prefix("use ");
                (of_public.is_some(), tree.map(str::to_owned))
            }
        };
        match tree {
            None => rest.extend([line, "\n"]),
            Some(tree) => match tree.trim_end().strip_suffix(';') {
                Some(whole) => found.push((public, whole.to_owned())),
                None => open = Some((public, tree)),
            },
        }
    }
    (found, rest)
}

/// The paths of a tree like `a::{b, c as d}`, each with the name that it has then.
fn expanded(tree: &str) -> Vec<(String, Names)> {
    let tree = tree.trim();
    let Some((before, rest)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
        let names: Names = path.split("::").map(|name| name.trim().to_owned()).collect();
        let name = name.map_or_else(|| names[names.len() - 1].clone(), |name| name.trim().to_owned());
        return vec![(name, names)];
    };
    let inside = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let mut depth = 0;
    let parts = inside.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == ','
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{}{}", before.trim(), part.trim()))).collect()
}

/// Paths in code that begin where a file is; not those that only say who may see something.
fn paths_in(text: &str) -> Vec<Names> {
    let mut found = Vec::new();
    for begin in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(begin) {
            let before = &text[..at];
            if before.ends_with(|c| is_name(c) || c == ':' || c == '$') || before.ends_with("in ") {
                continue;
            }
            let end = text[at..].find(|c| !(is_name(c) || c == ':')).map_or(text.len(), |end| at + end);
            found.push(text[at..end].trim_end_matches(':').split("::").map(str::to_owned).collect());
        }
    }
    found
}

fn defines(text: &str, name: &str) -> bool {
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];
    kinds.iter().any(|kind| {
        let words = format!("{kind} {name}");
        text.match_indices(&words).any(|(at, _)| !text[at + words.len()..].starts_with(is_name))
    })
}

#[test]
fn no_two_files_import_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut files, mut imports, mut cycles) = (0, 0, Vec::new());
    for entry in fs::read_dir(crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if !src.is_dir() {
            continue;
        }
        let read = Crate::read(&src);
        let edges = read.edges();
        files += read.files.len();
        imports += edges.iter().map(BTreeSet::len).sum::<usize>();
        for circle in circles(&edges) {
            let names: Vec<String> = circle.iter().map(|file| read.files[*file].path.display().to_string()).collect();
            cycles.push(names.join(" imports from "));
        }
    }
    assert!(cycles.is_empty(), "files import in a circle:\n{}", cycles.join("\n"));
    // Far fewer, and the files were not read as they are written.
    assert!(files > 500 && imports > 2 * files, "{files} files, {imports} imports");
}

#[test]
fn a_circle_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    file("lib.rs", "mod a;\nmod b;\n#[path = \"of_linux.rs\"]\nmod c;\npub use a::A;\npub use c::*;\n");
    file(
        "a.rs",
        "// use crate::b::B;\nuse std::{\n    fmt,\n    io as other,\n};\nuse crate::{b::B, C};\npub struct A;\n",
    );
    file("b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n");
    file("of_linux.rs", "pub struct C;\n");
    let found = |text: &str| {
        file("of_linux.rs", text);
        let read = Crate::read(directory.path());
        let name = |file: &usize| read.files[*file].module.join("::");
        circles(&read.edges()).iter().map(|circle| circle.iter().map(name).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(found("pub struct C;\n"), Vec::<Vec<String>>::new());
    assert_eq!(found("pub struct C;\nfn f() { super::A }\n"), [["a", "of_linux"]]);
    assert_eq!(found("use super::b::B;\npub struct C;\n"), Vec::<Vec<String>>::new());
    assert_eq!(found("use super::A;\npub struct C;\n"), [["a", "of_linux"]]);
}
