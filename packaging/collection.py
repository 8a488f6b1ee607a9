#!/usr/bin/env python3
"""Makes the archive of a collection as ansible-galaxy built it the same each time: sorted, of nobody, of one time.

  packaging/collection.py BUILT.tar.gz ARCHIVE.tar.gz    with the time of SOURCE_DATE_EPOCH

ansible-galaxy lists files in the order of the directory, and archives have the time of the build.
"""
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

built, archive = sys.argv[1:]
when = int(os.environ["SOURCE_DATE_EPOCH"])
with tarfile.open(built) as tar:
    members = {member.name: member for member in tar.getmembers()}
    content = {name: tar.extractfile(member).read() for name, member in members.items() if member.isfile()}


def text(document):
    return (json.dumps(document, indent=1) + "\n").encode()


# The manifest names the list of files by its sum.
files = json.loads(content["FILES.json"])
files["files"].sort(key=lambda file: file["name"])
content["FILES.json"] = text(files)
manifest = json.loads(content["MANIFEST.json"])
manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(content["FILES.json"]).hexdigest()
content["MANIFEST.json"] = text(manifest)

with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, when) as packed:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        # The two descriptions come first, where whoever installs the collection looks for them.
        for name in sorted(members, key=lambda name: (name not in ("MANIFEST.json", "FILES.json"), name)):
            old = members[name]
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.mtime = old.type, 0o755 if old.isdir() else 0o644, when
            member.size = len(content.get(name, b""))
            tar.addfile(member, io.BytesIO(content[name]) if name in content else None)
