"""What a binary is made of, as CycloneDX 1.6 on standard output; nothing is fetched.

    sbom.py PROGRAM TRIPLE BINARY COMPILER LINKER

The crates are those of licences/third-party.txt, or of third-party-public.txt, for one target: what `cargo tree` says
ends up in the program, with licences from `cargo metadata` and sums from Cargo.lock. Written for Python 3.11 or later,
for tomllib.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cargo(*arguments):
    """What cargo prints; nothing is fetched."""
    command = ["cargo", *arguments, "--locked", "--offline"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def licence(expression):
    """SPDX as it is today: `/` was once written for OR."""
    return [{"expression": expression.replace("/", " OR ")}] if expression else []


def crate(package, sums):
    """One crate as a component."""
    name, version = package["name"], package["version"]
    reference = f"pkg:cargo/{name}@{version}"
    component = {"type": "library", "bom-ref": reference, "name": name, "version": version}
    component["licenses"] = licence(package["license"])
    component["purl"] = reference
    if (name, version) in sums:
        component["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    if package.get("repository"):
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component


def other(name, version, licences):
    """A work that is no crate."""
    reference = f"pkg:generic/{name.lower().replace(' ', '-')}" + (f"@{version}" if version else "")
    component = {"type": "library", "bom-ref": reference, "name": name}
    if version:
        component["version"] = version
    component["licenses"] = [{"license": {"name": licences}}] if licences == "public domain" else licence(licences)
    component["purl"] = reference
    return component


def found(pattern, path):
    """The first match in a file."""
    return re.search(pattern, path.read_text(encoding="utf-8", errors="replace")).group(1)


def others(packages, compiler):
    """What crates contain beside their own text, and what every Rust program contains."""
    sqlite = Path(packages["libsqlite3-sys"]["manifest_path"]).parent / "sqlite3/sqlite3.h"
    uplot = ROOT / "crates/assay-report/assets/uplot/uPlot.iife.min.js"
    return [
        other("Rust standard library", compiler.split()[1], "MIT OR Apache-2.0"),
        other("LLVM libunwind", None, "Apache-2.0 WITH LLVM-exception"),
        other("musl", None, "MIT"),
        other("SQLite", found(r'#define SQLITE_VERSION\s+"([^"]+)"', sqlite), "public domain"),
        other("Ubuntu Light", None, "Ubuntu-font-1.0"),
        other("uPlot", found(r"\(v([0-9.]+)\)", uplot), "MIT"),
    ]


def linked(node):
    """What a crate depends on in the program, not in its tests or when it is compiled."""
    return {d["pkg"] for d in node["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])}


def main(program, triple, binary, compiler, linker):
    """Prints the document."""
    tree = ["tree", "-p", program, "-e", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--target", triple]
    contained = {tuple(line.split()[:2]) for line in cargo(*tree, "-f", "{p}").splitlines() if line}
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", triple))
    by_id = {package["id"]: package for package in metadata["packages"]}
    shipped = {key: p for key, p in by_id.items() if (p["name"], "v" + p["version"]) in contained}
    assert len(shipped) == len(contained), "cargo tree and cargo metadata disagree"
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    sums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
    components = sorted((crate(package, sums) for package in shipped.values()), key=lambda c: c["bom-ref"])
    subject = next(c for c in components if c["name"] == program)
    components.remove(subject)
    digest = hashlib.sha256(Path(binary).read_bytes()).hexdigest()
    subject |= {"type": "application", "hashes": [{"alg": "SHA-256", "content": digest}]}
    subject["properties"] = [{"name": "target", "value": triple}]
    components += others({package["name"]: package for package in shipped.values()}, compiler)
    reference = {key: f"pkg:cargo/{p['name']}@{p['version']}" for key, p in shipped.items()}
    dependencies = [
        {"ref": reference[node["id"]], "dependsOn": sorted(reference[d] for d in linked(node) if d in reference)}
        for node in metadata["resolve"]["nodes"]
        if node["id"] in reference
    ]
    made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tools": {"components": [{"type": "application", "name": tool} for tool in (compiler, linker)]},
            "component": subject,
        },
        "components": components,
        "dependencies": sorted(dependencies, key=lambda d: d["ref"]),
    }
    print(json.dumps(document, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
