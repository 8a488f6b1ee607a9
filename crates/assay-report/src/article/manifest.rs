//! Which files of a directory are those of an article, and unchanged since: the last line of `README.md` names each file with the
//! hash of its content.

/// How the last line begins.
const BEGINS: &str = "<!-- assay report --article:";
/// How it ends.
const ENDS: &str = " -->";
/// Hexadecimal digits of a hash: 64 bits. Files are compared with those that a user may have put there by chance.
const DIGITS: usize = 16;

/// The files of an article, as its `README.md` names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest(Vec<(String, String)>);

impl Manifest {
    /// The last line of `README.md`: names and contents of all files, of `README.md` itself that before this line.
    pub(super) fn line<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
        let all: String = files.into_iter().map(|(name, content)| format!(" {name} {}", hash(content))).collect();
        format!("{BEGINS}{all}{ENDS}\n")
    }

    /// Reads what a `README.md` called `name` names; empty where it is of no article, or was changed.
    #[must_use]
    pub fn read(name: &str, readme: &[u8]) -> Self {
        let read = || {
            let text = std::str::from_utf8(readme).ok()?;
            let (before, line) = text.split_at(text.rfind(BEGINS)?);
            let list = line.trim_end().strip_prefix(BEGINS)?.strip_suffix(ENDS)?;
            let words: Vec<&str> = list.split_whitespace().collect();
            let all: Vec<(String, String)> =
                words.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
            let own = all.iter().any(|(known, is)| known == name && *is == hash(before.as_bytes()));
            own.then_some(Self(all))
        };
        read().unwrap_or_default()
    }

    /// Whether the article holds a file of this name with this content.
    #[must_use]
    pub fn holds(&self, name: &str, content: &[u8]) -> bool {
        self.0.iter().any(|(known, is)| known == name && *is == hash(content))
    }

    /// Whether there is an article, and it is unchanged.
    #[must_use]
    pub fn is_article(&self) -> bool {
        !self.0.is_empty()
    }
}

fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_none_of_the_article() {
        let text = "# An article\n";
        let files: [(&str, &[u8]); 2] = [("heat.svg", b"<svg/>"), ("README.md", text.as_bytes())];
        let readme = format!("{text}{}", Manifest::line(files));
        let known = Manifest::read("README.md", readme.as_bytes());
        assert!(known.is_article() && known.holds("heat.svg", b"<svg/>"));
        assert!(!known.holds("heat.svg", b"mine") && !known.holds("curves.svg", b"<svg/>"));
        for changed in
            [format!("mine {readme}"), readme.replace("heat", "hoot") + "more", text.to_owned(), String::new()]
        {
            assert!(!Manifest::read("README.md", changed.as_bytes()).is_article(), "{changed}");
        }
    }
}
