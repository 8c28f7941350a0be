# Short names for the project's own commands; `cargo xtask --help` lists them all.

# Name the recipes.
default:
    @just --list

# Start the service on an embedded database with a demonstration program.
demo:
    cargo run --release -- demo

# Run everything that a change must pass.
test:
    cargo xtask test

# Run the tests of the interface on both engines, or those whose names contain a word.
check word="":
    cargo xtask check {{ word }}

# Format the code.
format:
    cargo fmt --all

# Run the lints and check the invariants.
lint:
    cargo clippy --workspace --all-targets --release -- --deny warnings
    cargo xtask tidy

# Show one claim about the release binary.
prove *arguments:
    cargo xtask prove {{ arguments }}

# Run the benchmark.
bench *arguments:
    cargo xtask bench {{ arguments }}

# Check licences, sources and advisories of the dependencies (needs cargo-deny).
deny:
    cargo deny check
