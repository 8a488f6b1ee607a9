# One-line recipes. CI runs `make test` and `make windows`; on a bare machine they install what they need.
.PHONY: dist dist-check packages package-check foreign windows mutants parquet test peers check build bench calibrate people campaign schema licences msrv miri fuzz clean

# All tests, two programs at a time; tests/run.sh says which of them have the machine to themselves, and why.
test: peers check
	@sh tests/run.sh

# Formatting, lints, and what comes from elsewhere; schema, licences and docs are checked by tests.
check:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	@# The README's first command runs the right program. `cargo run` would build all crates once more for it, since
	@# tests ask their dependencies for more features.
	@cargo metadata --locked --no-deps --format-version 1 | grep -q '"workspace_default_members":\["[^"]*/crates/assay#[^"]*"\]'
	@sh tests/supply-chain.sh
	@sh tests/words.sh

# The tools that tests compare with, from the distribution's packages.
peers:
	@sh tests/install-peers.sh

build:
	cargo build --locked --release

# Static binaries for other machines, in target/dist: `make dist TARGETS="aarch64 armv7"`. See docs/platforms.md.
dist:
	@sh packaging/dist.sh $(TARGETS)

# Debian packages and RPMs of what `make dist` made, and the Ansible collection, in target/dist.
packages:
	@sh packaging/packages.sh $(TARGETS)

# Installs, runs and removes the Debian package and the RPM of this machine, each in a bare root (as root, with debootstrap and
# rpm), and asks lintian. `make package-check FILES=target/dist/assay_0.1.0_amd64.deb` names others.
package-check:
	@sh packaging/package-check.sh $(FILES)

# Targets, built in two directories, have to give the same bytes: `make dist-check TARGETS=aarch64`.
dist-check:
	@sh packaging/dist-check.sh $(TARGETS)

# Tests on other processors, by emulators, and the program of each beside that of this machine: `make foreign TARGETS=s390x`.
foreign:
	@sh tests/foreign.sh $(TARGETS)
	@[ -n "$(TARGETS)" ] || sh tests/windows.sh

# Tests on Windows, by wine: `make windows CRATES=assay-engine`. As root on Debian it installs mingw and wine.
windows:
	@sh tests/install-peers.sh windows
	@sh tests/windows.sh $(CRATES)

# Comparisons with peers, as root; fails where a target is missed. See docs/benchmarks.md.
# `make bench ONLY=accuracy` runs those whose name holds the word. Both are built at once, so that they share crates.
bench: peers
	cargo build --locked --release --quiet -p assay -p assay-bench
	target/release/assay-bench $(ONLY)

# How often the program decides wrongly, on fleets of which the truth is known, and on stores as people make them, by a generator
# that was written from the documents alone; fails where a row misses its bound. See CONTRIBUTING.md.
# `make calibrate REPLICATES=200 ROWS="compare two"` measures the rows whose name holds the words, and no stores.
calibrate:
	cargo run --release --locked --quiet -p assay-calibrate -- table --replicates $(or $(REPLICATES),1000) --rows "$(ROWS)"
	@[ -n "$(ROWS)" ] || $(MAKE) --no-print-directory people

# The stores alone: 2,000 of them, and other ones with `make people SEEDS=10000..12000`.
people:
	cargo build --release --locked --quiet -p assay
	ASSAY_CAMPAIGN_SEEDS=$(or $(SEEDS),2000) ASSAY_CAMPAIGN_PROGRAM=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/assay \
		cargo test --locked --quiet -p assay --test campaign_people -- --nocapture

# Faults and media drawn by seed, each judged by its claims; prints how many failed and the seed of each.
# `make campaign SEEDS=10000 ONLY=journal` runs the test programs `campaign*` whose name holds the word.
campaign:
	ASSAY_CAMPAIGN_SEEDS=$(or $(SEEDS),1000) cargo test --locked --workspace --quiet --test 'campaign*$(ONLY)*' -- --nocapture

# Reports as Apache Parquet, which are no part of the usual build.
parquet:
	cargo test --locked --quiet -p assay-report --features parquet --lib parquet
	cargo clippy --locked --quiet -p assay --features parquet -- -D warnings

# After a change of the record's types: see CONTRIBUTING.md.
schema:
	ASSAY_BLESS=1 cargo test --locked --quiet -p assay --test it schema::

# After a change of Cargo.lock: the licences of all that the program contains.
licences:
	ASSAY_BLESS=1 cargo test --locked --quiet -p assay --test it licences::

# The oldest compiler that Cargo.toml promises, which rustup brings.
OLDEST = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
msrv:
	rustup toolchain install $(OLDEST) --profile minimal
	cargo +$(OLDEST) check --locked --workspace --all-targets

# Unsafe code under Miri, where Miri can run it (the buffers of the engine); needs a nightly toolchain with Miri.
miri:
	cargo +nightly miri test --locked -p assay-engine --lib buffer

# Each fuzz target for so long, or one of them: `make fuzz SECONDS=600 TARGET=suite`. See CONTRIBUTING.md.
fuzz:
	@sh fuzz/run.sh $(or $(SECONDS),60) $(TARGET)

# Do the tests notice mistakes? 300 that are drawn by a seed, in shards; takes hours. See tests/mutants.sh.
# `make mutants CRATES="assay-core assay-stats" SAMPLE=30 SEED=7 SHARD=1/4`.
mutants:
	@SEED=$(or $(SEED),1) SAMPLE=$(or $(SAMPLE),300) SHARD=$(or $(SHARD),1/1) sh tests/mutants.sh $(CRATES)

clean:
	cargo clean
