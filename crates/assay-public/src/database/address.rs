//! What an address of PostgreSQL says of the way to it.

use std::path::PathBuf;
use std::str::FromStr;

use postgres::Config;
use postgres::config::{Host, SslMode};

/// An address with how the way to it is protected.
pub(super) struct Address {
    /// What the driver connects to.
    pub(super) config: Config,
    /// Where the certificates of authorities are; none for a way without TLS.
    pub(super) authorities: Option<PathBuf>,
}

/// Reads an address. The driver does not verify certificates: what of the address is about that is read here.
///
/// # Errors
/// A line that says what is wrong with it.
pub(super) fn read(address: &str) -> Result<Address, String> {
    let (mode, rest) = taken(address, "sslmode");
    let (authorities, rest) = taken(&rest, "sslrootcert");
    let mut config = Config::from_str(&rest).map_err(|error| error.to_string())?;
    let encrypted = match mode.as_deref() {
        Some("require" | "verify-ca" | "verify-full") => true,
        None | Some("disable" | "prefer" | "allow") => false,
        Some(other) => return Err(format!("sslmode={other} is none: write verify-full or disable")),
    };
    if !encrypted {
        if mode.as_deref() != Some("disable") && config.get_hosts().iter().any(is_elsewhere) {
            let mend = "add sslmode=verify-full and sslrootcert=FILE; sslmode=disable is for a network that you trust";
            return Err(format!("the database is on another machine, and the way to it is not encrypted: {mend}"));
        }
        config.ssl_mode(SslMode::Disable);
        return Ok(Address { config, authorities: None });
    }
    let Some(authorities) = authorities else {
        return Err(
            "sslmode needs sslrootcert=FILE: the certificates (PEM) of who signed that of the server".to_owned()
        );
    };
    config.ssl_mode(SslMode::Require);
    Ok(Address { config, authorities: Some(PathBuf::from(authorities)) })
}

/// Whether a host is another machine, as far as its name says.
fn is_elsewhere(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name != "localhost" && !name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => false,
    }
}

/// The value of a parameter, and the address without it. Both forms of libpq: `postgres://…?name=value&…`, and
/// `name=value …`.
fn taken(address: &str, name: &str) -> (Option<String>, String) {
    let (before, parameters, separator) = match address.split_once("://") {
        Some(_) => match address.split_once('?') {
            Some((before, parameters)) => (format!("{before}?"), parameters, '&'),
            None => return (None, address.to_owned()),
        },
        None => (String::new(), address, ' '),
    };
    let mut value = None;
    let others = parameters.split(separator).filter(|parameter| match parameter.split_once('=') {
        Some((found, text)) if found.trim() == name => {
            value = Some(text.trim().trim_matches('\'').replace("%2F", "/"));
            false
        }
        _ => !parameter.is_empty(),
    });
    let others: Vec<&str> = others.collect();
    let rest = before + &others.join(&separator.to_string());
    (value, rest.trim_end_matches('?').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_another_machine_is_protected_or_said_to_need_none() {
        for (address, expected) in [
            ("host=/run/postgresql dbname=assay", Ok(None)),
            ("postgres:///assay?host=/run/postgresql&user=x", Ok(None)),
            ("postgres://u@localhost/assay", Ok(None)),
            ("postgres://u:p@127.0.0.1:5433/assay?connect_timeout=5", Ok(None)),
            ("postgres://u@[::1]/assay", Ok(None)),
            ("postgres://u@db.example.org/assay?sslmode=disable", Ok(None)),
            ("host=db.example.org sslmode=disable dbname=x", Ok(None)),
            ("postgres://u@db/x?sslmode=verify-full&sslrootcert=/etc/ca.pem", Ok(Some("/etc/ca.pem"))),
            (
                "postgres://u@db/x?sslrootcert=%2Fetc%2Fca.pem&connect_timeout=5&sslmode=require",
                Ok(Some("/etc/ca.pem")),
            ),
            ("host=db sslmode=verify-ca user=u sslrootcert='/etc/ca.pem'", Ok(Some("/etc/ca.pem"))),
            ("postgres://u@db.example.org/assay", Err("not encrypted")),
            ("postgres://u@localhost,db/assay", Err("not encrypted")),
            ("host=10.0.0.7 sslmode=prefer", Err("not encrypted")),
            ("host=db sslmode=require", Err("sslrootcert")),
            ("host=db sslmode=sometimes", Err("is none")),
        ] {
            let read = read(address);
            match expected {
                Ok(file) => {
                    let found = read.unwrap_or_else(|error| panic!("{address}: {error}"));
                    assert_eq!(found.authorities.as_deref(), file.map(std::path::Path::new), "{address}");
                    let mode = if file.is_some() { SslMode::Require } else { SslMode::Disable };
                    assert_eq!(found.config.get_ssl_mode(), mode, "{address}");
                }
                Err(words) => assert!(read.err().is_some_and(|error| error.contains(words)), "{address}"),
            }
        }
    }
}
