//! The data directory of the store.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::system::HOMES;

/// The data directory: `ASSAY_DATA`, else `$XDG_DATA_HOME/assay`, else `$HOME/.local/share/assay`; on Windows
/// `ASSAY_DATA`, else `%LOCALAPPDATA%\assay`.
///
/// According to the XDG Base Directory Specification 0.8, a relative `XDG_DATA_HOME` is invalid and ignored. Empty
/// variables count as not set.
///
/// # Errors
/// [`StoreError::NoHome`] if none of them names a directory.
pub fn data_dir(env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(own) = path("ASSAY_DATA") {
        return Ok(own);
    }
    let mut homes = HOMES.into_iter().filter_map(|(name, below)| Some(path(name)?.join(below)));
    homes.find(|home| home.is_absolute()).ok_or(StoreError::NoHome)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<PathBuf, StoreError> {
        data_dir(&|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    }

    #[cfg(not(windows))]
    #[test]
    fn the_own_variable_wins_over_xdg_and_home() {
        let all = [("ASSAY_DATA", "/a"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(with(&all).unwrap(), PathBuf::from("/a"));
        assert_eq!(with(&all[1..]).unwrap(), PathBuf::from("/x/assay"));
        assert_eq!(with(&all[2..]).unwrap(), PathBuf::from("/h/.local/share/assay"));
        assert_eq!(with(&[("ASSAY_DATA", "here")]).unwrap(), PathBuf::from("here"));
    }

    #[cfg(not(windows))]
    #[test]
    fn empty_and_relative_variables_are_passed_over() {
        let odd = [("ASSAY_DATA", ""), ("XDG_DATA_HOME", "relative"), ("HOME", "/h")];
        assert_eq!(with(&odd).unwrap(), PathBuf::from("/h/.local/share/assay"));
    }

    #[test]
    fn without_a_home_the_error_says_what_to_set() {
        for variables in [&[][..], &[("HOME", "")], &[("HOME", "x")]] {
            let error = with(variables).unwrap_err();
            assert!(matches!(error, StoreError::NoHome));
            assert!(error.to_string().contains("set ASSAY_DATA"), "{error}");
        }
    }
}
