//! Ways to PostgreSQL on another machine: verified by TLS, or refused.

use assay_public::database::{Database, Place};
use assay_public::store;

use crate::peers::Postgres;
use crate::server::command;

fn open(address: &str) -> Result<Database, String> {
    Database::open(&address.parse::<Place>().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn the_server_is_verified() {
    let Some((server, port, authority)) = Postgres::start_with_tls() else { return };
    server.database_at("ways", port);
    let authority = authority.display().to_string();
    let at = |host: &str, more: &str| format!("postgres://postgres@{host}:{port}/ways?{more}");
    let verified = format!("sslmode=verify-full&sslrootcert={authority}");
    let database = open(&at("localhost", &verified)).unwrap();
    let asked = "SELECT CASE WHEN ssl THEN version ELSE 'plain' END FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let rows = database.with(|connection| connection.rows(asked, &[])).unwrap();
    assert_eq!(rows[0].text(0).unwrap(), "TLSv1.3");
    assert!(database.write(|connection| store::add_account(connection, "alice", "one")).unwrap());
    let other = authority.replace("authority.pem", "other.pem");
    for (host, more, words) in [
        ("127.0.0.1", verified.clone(), "certificate"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), "certificate"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={authority}.none"), "sslrootcert="),
        ("localhost", "sslmode=disable".to_owned(), "pg_hba.conf"),
        ("localhost", "sslmode=require".to_owned(), "sslrootcert=FILE"),
    ] {
        let error = open(&at(host, &more)).err().unwrap_or_else(|| panic!("{host} {more} is let in"));
        assert!(error.contains(words) && !error.contains('\n'), "{host} {more}: {error}");
    }
}

/// Nothing is sent to another machine before the way to it is protected, or said to need no protection.
#[test]
fn a_plain_way_to_another_machine_is_refused() {
    let output = command(&["account", "list", "--database", "postgres://u:hunter2@db.invalid/results"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("add sslmode=verify-full") && said.lines().count() == 1 && !said.contains("hunter2"),
        "{said}"
    );
}
