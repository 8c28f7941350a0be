#!/usr/bin/env bash
# Makes what a release consists of in release-files of the target folder: an archive, a Debian package, the Helm chart, an SBOM,
# notes from the changelog, and checksums. Called with a version, it must be that of the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
if [ "${1:-$version}" != "$version" ]; then
    echo "the workspace has version $version, not $1" >&2
    exit 2
fi
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/release-files
name=plaudit-$version-$(uname -m)-linux
stripped=$target/release/stripped
rm -rf "$out" "$stripped"
mkdir -p "$out/$name" "$stripped"

# The same tools every time, beside what is built.
tools=$target/tools/release
for tool in cargo-deb@3.8.0 cargo-cyclonedx@0.5.9; do
    if ! grep -qs "^\"${tool%@*} ${tool#*@} " "$tools/.crates.toml"; then
        cargo install --quiet --locked --root "$tools" "$tool"
    fi
done
export PATH="$tools/bin:$PATH"

PLAUDIT_COMMIT=$(git rev-parse HEAD)
export PLAUDIT_COMMIT CARGO_TARGET_DIR=$target
cargo build --release --locked --package plaudit
cargo build --release --locked --manifest-path typeset/Cargo.toml --target-dir "$target/typeset"
strip -o "$stripped/plaudit" "$target/release/plaudit"
strip -o "$stripped/plaudit-typeset" "$target/typeset/release/plaudit-typeset"

cp -r "$stripped"/* README.md CHANGELOG.md SECURITY.md LICENSE-APACHE LICENSE-MIT docs packaging "$out/$name"
pack() { tar --create --gzip --sort=name --owner=0 --group=0 --directory "$1" --file "$2" "$3"; }
pack "$out" "$out/$name.tar.gz" "$name"
rm -r "${out:?}/$name"
pack packaging/helm "$out/plaudit-chart-$version.tgz" plaudit
cargo deb --package plaudit --no-build --output "$out"
for program in crates/plaudit typeset; do
    # Every member of a workspace gets one, of which that of the program counts.
    cargo cyclonedx --quiet --format json --override-filename plaudit-release-sbom --manifest-path "$program/Cargo.toml"
    mv "$program/plaudit-release-sbom.json" "$out/plaudit-$(basename "${program/crates\/plaudit/server}")-$version.cdx.json"
done
git ls-files --others -- '*/plaudit-release-sbom.json' | xargs --no-run-if-empty rm
# What stands below the heading of the version or, where it has none yet, of what is not released.
heading=$(grep -m1 -F "## [$version]" CHANGELOG.md || echo "## [Unreleased]")
awk -v heading="$heading" '/^## / { shown = index($0, heading) == 1; next } shown' CHANGELOG.md > "$out/notes-$version.md"
(cd "$out" && sha256sum -- * > SHA256SUMS && ls -l)
