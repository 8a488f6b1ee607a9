//! What distributors get: packages of a tarball as `make dist` makes it, and the units of systemd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assay_lab::{Missing, skip};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A tarball for this machine's tests.
pub(crate) fn tarball(directory: &Path) {
    tarball_of(directory, "x86_64-unknown-linux-musl");
}

/// A tarball with a program of a few bytes in place of the real one.
fn tarball_of(directory: &Path, triple: &str) {
    let name = format!("assay-{}-{triple}", env!("CARGO_PKG_VERSION"));
    let tree = directory.join(&name);
    for part in ["man", "completions"] {
        fs::create_dir_all(tree.join(part)).unwrap();
    }
    for file in [
        "assay",
        "man/assay.1",
        "completions/assay.bash",
        "completions/_assay",
        "completions/assay.fish",
        "LICENSE-MIT",
    ] {
        fs::write(tree.join(file), format!("{file}\n")).unwrap();
    }
    fs::copy(root().join("packaging/install.sh"), tree.join("install.sh")).unwrap();
    for file in ["LICENSE-APACHE", "LICENCES-THIRD-PARTY"] {
        fs::write(tree.join(file), file).unwrap();
    }
    fs::write(tree.join("assay"), format!("#!/bin/sh\n# {triple}\necho assay 0\n")).unwrap();
    let packed = directory.join(format!("{name}.tar.gz"));
    let status = Command::new("tar").arg("-czf").arg(packed).arg("-C").arg(directory).arg(&name).status();
    assert!(status.unwrap().success());
}

fn packages(directory: &Path) -> Output {
    packages_of(directory, &["x86_64"])
}

fn packages_of(directory: &Path, targets: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.arg(root().join("packaging/packages.sh")).args(targets);
    command.env("HOME", directory).env("DIST", directory).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap()
}

/// A tarball of the public instance, with a program of a few bytes, as `make dist` makes it beside that of assay.
fn public_tarball(directory: &Path) {
    let name = format!("assay-public-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION"));
    let tree = directory.join(&name);
    fs::create_dir_all(&tree).unwrap();
    for file in ["assay-public", "LICENSE-MIT", "LICENSE-APACHE", "LICENCES-THIRD-PARTY"] {
        fs::write(tree.join(file), format!("{file}\n")).unwrap();
    }
    fs::create_dir(tree.join("man")).unwrap();
    fs::write(tree.join("man/assay-public.1"), ".TH assay-public 1\n").unwrap();
    let packed = directory.join(format!("{name}.tar.gz"));
    let status = Command::new("tar").arg("-czf").arg(packed).arg("-C").arg(directory).arg(&name).status();
    assert!(status.unwrap().success());
}

/// A server is a package of its own, with its unit and its user; what measures has neither.
#[test]
fn the_public_instance_is_a_package_of_its_own() {
    const TEST: &str = "the_public_instance_is_a_package_of_its_own";
    if !is_there("dpkg-deb") {
        return skip(TEST, &Missing("needs dpkg-deb".to_owned()));
    }
    let directory = tempfile::tempdir().unwrap();
    tarball(directory.path());
    public_tarball(directory.path());
    let output = packages(directory.path());
    assert!(output.status.success(), "{}", said(&output));
    let asked = |program: &str, about: &str| {
        let package = directory.path().join(format!("{program}_{}_amd64.deb", env!("CARGO_PKG_VERSION")));
        said(&Command::new("dpkg-deb").arg(about).arg(package).output().unwrap())
    };
    let files = asked("assay-public", "-c");
    for file in [
        "./usr/bin/assay-public",
        "./usr/share/man/man1/assay-public.1.gz",
        "./lib/systemd/system/assay-public.service",
        "./usr/lib/sysusers.d/assay-public.conf",
        "./usr/share/doc/assay-public/third-party.txt.gz",
    ] {
        assert!(files.lines().any(|line| line.ends_with(file)), "{file}: {files}");
    }
    assert!(!asked("assay", "-c").contains("assay-public"));
    let control = asked("assay-public", "-I");
    for words in ["Package: assay-public\n", "Depends: systemd |", "postinst", "prerm", "postrm"] {
        assert!(control.contains(words), "{words}: {control}");
    }
    assert!(!asked("assay", "-I").contains("Depends:"));
    let sums = fs::read_to_string(directory.path().join("SHA256SUMS")).unwrap();
    assert!(sums.contains("assay-public_") && sums.contains("assay-public-"), "{sums}");
    if is_there("rpmbuild") {
        let package = directory.path().join(format!("assay-public-{}-1.x86_64.rpm", env!("CARGO_PKG_VERSION")));
        let mut rpm = Command::new("rpm");
        let listed = said(&rpm.args(["-q", "--package", "--list", "--scripts"]).arg(package).output().unwrap());
        for words in ["/usr/lib/systemd/system/assay-public.service", "systemd-sysusers assay-public.conf"] {
            assert!(listed.contains(words), "{words}: {listed}");
        }
    }
}

#[test]
fn a_tarball_becomes_packages_of_the_same_bytes_each_time() {
    const TEST: &str = "a_tarball_becomes_packages_of_the_same_bytes_each_time";
    if !is_there("dpkg-deb") {
        return skip(TEST, &Missing("needs dpkg-deb".to_owned()));
    }
    let made: Vec<Vec<u8>> = [(); 2]
        .map(|()| {
            let directory = tempfile::tempdir().unwrap();
            tarball(directory.path());
            let output = packages(directory.path());
            assert!(output.status.success(), "{}", said(&output));
            let package = directory.path().join(format!("assay_{}_amd64.deb", env!("CARGO_PKG_VERSION")));
            let listed = Command::new("dpkg-deb").arg("-c").arg(&package).output().unwrap();
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            for file in ["./usr/bin/assay", "./usr/share/man/man1/assay.1.gz", "./lib/systemd/system/assay-run@.timer"]
            {
                assert!(listed.lines().any(|line| line.ends_with(file)), "{file}: {listed}");
            }
            assert!(listed.lines().all(|line| line.contains("root/root")), "{listed}");
            let sums = fs::read_to_string(directory.path().join("SHA256SUMS")).unwrap();
            assert!(sums.contains("_amd64.deb") && sums.contains(".tar.gz"), "{sums}");
            fs::read(package).unwrap()
        })
        .into();
    // Times within the tarball differ between the two, so what was packed does not hold them.
    assert!(made[0] == made[1], "{} and {} bytes", made[0].len(), made[1].len());
}

/// Raspberry Pi OS runs packages of armhf on the ARMv6 of a Raspberry Pi 1, where a program for ARMv7 dies of SIGILL.
#[test]
fn the_package_of_armhf_has_the_program_for_armv6() {
    const TEST: &str = "the_package_of_armhf_has_the_program_for_armv6";
    if !is_there("dpkg-deb") {
        return skip(TEST, &Missing("needs dpkg-deb".to_owned()));
    }
    let directory = tempfile::tempdir().unwrap();
    for triple in ["armv7-unknown-linux-musleabihf", "arm-unknown-linux-musleabihf"] {
        tarball_of(directory.path(), triple);
    }
    let output = packages_of(directory.path(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&output).matches("_armhf.deb").count(), 1, "{}", said(&output));
    let package = directory.path().join(format!("assay_{}_armhf.deb", env!("CARGO_PKG_VERSION")));
    let tree = directory.path().join("unpacked");
    let status = Command::new("dpkg-deb").arg("-x").arg(package).arg(&tree).status();
    assert!(status.unwrap().success());
    let program = fs::read_to_string(tree.join("usr/bin/assay")).unwrap();
    assert!(program.contains("# arm-unknown-linux-musleabihf"), "{program}");
}

/// Each placeholder has a value, and the recipe of Arch packs the tarball of each of its architectures.
#[test]
fn the_recipes_have_the_sums_of_the_tarballs() {
    let directory = tempfile::tempdir().unwrap();
    let dist = directory.path();
    let recipes = || {
        let mut command = Command::new("sh");
        command.arg(root().join("packaging/recipes.sh")).arg("https://host.invalid/assay").env("DIST", dist);
        command.output().unwrap()
    };
    let architectures = [
        ("x86_64", "x86_64-unknown-linux-musl"),
        ("aarch64", "aarch64-unknown-linux-musl"),
        ("armv7h", "armv7-unknown-linux-musleabihf"),
    ];
    architectures.iter().for_each(|(_, triple)| tarball_of(dist, triple));
    let mut sums = Command::new("sh");
    let status = sums.args(["-c", "sha256sum *-x86_64-*.tar.gz > SHA256SUMS"]).current_dir(dist).status();
    assert!(status.unwrap().success());
    let output = recipes();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("has no tarball of aarch64-unknown-linux-musl (make dist)"), "{}", said(&output));

    let status = Command::new("sh").args(["-c", "sha256sum *.tar.gz > SHA256SUMS"]).current_dir(dist).status();
    assert!(status.unwrap().success());
    let output = recipes();
    assert!(output.status.success(), "{}", said(&output));
    let sums = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    let sum = |triple: &str| sums.lines().find(|line| line.contains(triple)).unwrap().split(' ').next().unwrap();
    for (file, triples) in [("PKGBUILD", 3), ("assay.rb", 2)] {
        let recipe = fs::read_to_string(dist.join("recipes").join(file)).unwrap();
        assert!(!recipe.contains('@'), "{file}: {recipe}");
        assert!(recipe.contains("https://host.invalid/assay"), "{file}: {recipe}");
        for (_, triple) in &architectures[..triples] {
            assert!(recipe.contains(sum(triple)), "{file}: {triple}: {recipe}");
        }
    }
    let script = r#"set -e; . recipes/PKGBUILD; CARCH=$1; pkgdir=$PWD/package-$1; mkdir -p "source-$1"
        printf '%s\n' "${license[@]}"; from=source_$1; from=${!from##*/}
        tar -xzf "$from" -C "source-$1"; cd "source-$1"; ln -s "../$from"; package"#;
    for (architecture, triple) in architectures {
        let mut package = Command::new("bash");
        let output = package.args(["-c", script, "bash", architecture]).current_dir(dist).output().unwrap();
        assert!(output.status.success(), "{architecture}: {}", said(&output));
        assert_eq!(said(&output), "MIT OR Apache-2.0\n");
        let program = dist.join(format!("package-{architecture}/usr/bin/assay"));
        let program = fs::read_to_string(program).unwrap();
        assert!(program.contains(triple), "{architecture}: {program}");
    }
}

/// Its files are those of the tree, with the modes and sums that ansible-galaxy looks at.
#[test]
fn the_collection_is_an_archive_that_ansible_installs() {
    const TEST: &str = "the_collection_is_an_archive_that_ansible_installs";
    if !is_there("dpkg-deb") || !is_there("ansible-galaxy") {
        return skip(TEST, &Missing("needs dpkg-deb and ansible-galaxy".to_owned()));
    }
    let described = fs::read_to_string(root().join("fleet/ansible_collections/assay/fleet/galaxy.yml")).unwrap();
    let version = described.lines().find_map(|line| line.strip_prefix("version: ")).unwrap();
    let name = &format!("assay-fleet-{version}.tar.gz");
    let directories = [(); 2].map(|()| {
        let directory = tempfile::tempdir().unwrap();
        tarball(directory.path());
        let output = packages(directory.path());
        assert!(output.status.success(), "{}", said(&output));
        assert!(fs::read_to_string(directory.path().join("SHA256SUMS")).unwrap().contains(name));
        directory
    });
    let [one, other] = [0, 1].map(|at: usize| fs::read(directories[at].path().join(name)).unwrap());
    assert!(one == other, "{} and {} bytes", one.len(), other.len());
    let there = directories[0].path();
    let mut install = Command::new("ansible-galaxy");
    install
        .env("LC_ALL", "C.UTF-8")
        .args(["collection", "install", "--offline", "-p"])
        .arg(there)
        .arg(there.join(name))
        .env("HOME", there);
    let output = install.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let installed = there.join("ansible_collections/assay/fleet");
    let tree = root().join("fleet/ansible_collections/assay/fleet");
    for file in ["roles/node/tasks/main.yml", "plugins/callback/jsonl.py", "README.md"] {
        assert_eq!(fs::read(installed.join(file)).unwrap(), fs::read(tree.join(file)).unwrap(), "{file}");
    }
    let mut verify = Command::new("ansible-galaxy");
    verify
        .env("LC_ALL", "C.UTF-8")
        .args(["collection", "verify", "--offline", "-p"])
        .arg(there)
        .arg("assay.fleet")
        .env("HOME", there);
    let output = verify.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn what_is_not_there_is_told_and_nothing_made_is_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let output = packages(directory.path());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("make dist TARGETS=x86_64"), "{}", said(&output));
    let mut unknown = Command::new("sh");
    let output = unknown.arg(root().join("packaging/packages.sh")).arg("pdp11").env("DIST", directory.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("no packages of pdp11"), "{}", said(&output));
}

#[test]
fn the_tarball_installs_and_removes_itself() {
    let directory = tempfile::tempdir().unwrap();
    tarball(directory.path());
    let name = format!("assay-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION"));
    let install = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(directory.path().join(&name).join("install.sh")).args(words);
        // A prefix without a slash is one of the caller's directory.
        let output = command.arg("a prefix").current_dir(directory.path()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        output
    };
    let prefix = directory.path().join("a prefix");
    // A link that lies there is replaced, and what it leads to stays.
    let other = directory.path().join("other");
    fs::write(&other, "another program").unwrap();
    fs::create_dir_all(prefix.join("bin")).unwrap();
    std::os::unix::fs::symlink(&other, prefix.join("bin/assay")).unwrap();
    assert_eq!(said(&install(&[])), "assay 0\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "another program");
    for file in ["bin/assay", "share/man/man1/assay.1", "share/zsh/site-functions/_assay"] {
        assert!(prefix.join(file).is_file(), "{file}");
    }
    install(&["--remove"]);
    let left = Command::new("find").arg(&prefix).args(["!", "-type", "d"]).output().unwrap();
    assert_eq!(said(&left), "");
}

/// The service reaches the medium, its state, and little else.
#[test]
fn the_service_of_the_timer_is_confined() {
    const TEST: &str = "the_service_of_the_timer_is_confined";
    if !is_there("systemd-analyze") {
        return skip(TEST, &Missing("needs systemd-analyze".to_owned()));
    }
    let unit = root().join("packaging/systemd/assay-run@.service");
    let output = Command::new("systemd-analyze").args(["security", "--offline=true"]).arg(unit).output().unwrap();
    let printed = said(&output);
    let Some(level) = printed.lines().find_map(|line| line.split_once("level for ")?.1.split_whitespace().nth(1))
    else {
        return skip(TEST, &Missing("needs a systemd-analyze that looks at files".to_owned()));
    };
    let level: f64 = level.parse().unwrap_or_else(|_| panic!("{printed}"));
    assert!(level <= 2.0, "{printed}");
}

/// systemd reads all units without a remark. The programs, which are not installed here, are another one for that.
#[test]
fn the_units_are_read_by_systemd_without_a_remark() {
    const TEST: &str = "the_units_are_read_by_systemd_without_a_remark";
    if !is_there("systemd-analyze") {
        return skip(TEST, &Missing("needs systemd-analyze".to_owned()));
    }
    let directory = tempfile::tempdir().unwrap();
    for unit in ["assay-run@.service", "assay-run@.timer", "assay-public.service"] {
        let text = fs::read_to_string(root().join("packaging/systemd").join(unit)).unwrap();
        let text = text.replace("=/usr/bin/assay ", "=/bin/true ").replace("=/usr/bin/assay-public ", "=/bin/true ");
        fs::write(directory.path().join(unit), text).unwrap();
    }
    let verify = || {
        let mut command = Command::new("systemd-analyze");
        let units = ["./assay-run@.service", "./assay-run@.timer", "./assay-public.service"];
        command.args(["verify", "--man=no"]).args(units).current_dir(directory.path()).output().unwrap()
    };
    let output = verify();
    assert!(output.status.success() && said(&output).is_empty(), "{}", said(&output));
    // It does look at them.
    let service = directory.path().join("assay-run@.service");
    let text = fs::read_to_string(&service).unwrap();
    fs::write(&service, text.replace("ProtectSystem=", "ProtectSystm=")).unwrap();
    assert!(said(&verify()).contains("ProtectSystm"), "{}", said(&verify()));
}
